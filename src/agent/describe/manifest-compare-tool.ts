import { canonicalJson } from "../../util/canonical-json.ts";
import type { Effect } from "../../tool/tool.ts";
import { toJson } from "../../util/json.ts";
import type { AgentManifest, ToolManifest } from "./manifest-data.ts";
import {
  compareRecords,
  compareSets,
  compareFlag,
  compareStep,
  type ManifestChange,
  note,
  type Path,
} from "./manifest-change.ts";

/** The effects, from the most to the least guarded. A declared write is guarded, an undeclared effect is only reported. */
const effects = ["none", "read", "write", "irreversible", "undeclared"];
const levels = ["isolated", "mediated", "remote", "none"];

/** Compares the manifests of agents inside a tool. */
export type CompareAgents = (
  before: AgentManifest,
  after: AgentManifest,
  path: Path,
) => readonly ManifestChange[];

/** The changes of one tool. */
export function compareTool(
  before: ToolManifest,
  after: ToolManifest,
  { path, compareAgents }: { readonly path: Path; readonly compareAgents: CompareAgents },
): readonly ManifestChange[] {
  const flag = (name: "trusted" | "fresh" | "resolves"): readonly ManifestChange[] =>
    compareFlag(before[name] === true, after[name] === true, [...path, name]);
  const level = [before.enforcement.level, after.enforcement.level] as const;
  const needs = { path: [...path, "needs"], what: "need", more: "widened", less: "narrowed" } as const;
  return [
    ...compareKinds(before.kind, after.kind, path),
    ...compareEffects(before.effect, after.effect, [...path, "effect"]),
    ...compareSets(before.needs ?? [], after.needs ?? [], needs),
    ...compareRoles(before.parameters, after.parameters, [...path, "parameters"]),
    ...flag("trusted"),
    ...flag("fresh"),
    ...flag("resolves"),
    ...compareSecrecy(before.secrecy, after.secrecy, [...path, "secrecy"]),
    ...compareStep(level, levels, [...path, "enforcement"]),
    ...compareConstraints(before.constraints ?? {}, after.constraints ?? {}, [...path, "constraints"]),
    ...comparePins(before.mcp, after.mcp, [...path, "mcp"]),
    ...compareInside(before.agents ?? {}, after.agents ?? {}, { path: [...path, "agents"], compareAgents }),
  ];
}

/** The changes of kind. Knowledge and memory have no effect for a policy, whatever their tools declare. */
function compareKinds(
  was: ToolManifest["kind"],
  is: ToolManifest["kind"],
  path: Path,
): readonly ManifestChange[] {
  if (was === is) return [];
  const text = `kind ${was ?? "tool"} → ${is ?? "tool"}`;
  if (was === undefined) return [note("widened", path, `${text}: a policy takes its calls for reading`)];
  return [note(is === undefined ? "narrowed" : "changed", path, text)];
}

/** The change of an effect. A tool that declares that it only looks is guarded less, and no manifest can tell whether that is true. */
function compareEffects(was: Effect, is: Effect, path: Path): readonly ManifestChange[] {
  if (was === "read" && is === "none")
    return [note("widened", path, "read → none: what it gives is taken for as trusted as its arguments")];
  const isTamed = effects.indexOf(was) >= 2 && effects.indexOf(is) < 2;
  return isTamed
    ? [note("changed", path, `${was} → ${is}: it is guarded less`)]
    : compareStep([was, is], effects, path);
}

/** The changes of roles. An argument without a role counts as a target: policies look at targets most closely. */
function compareRoles(
  before: ToolManifest["parameters"],
  after: ToolManifest["parameters"],
  path: Path,
): readonly ManifestChange[] {
  return compareRecords(before, after, (name, was = "target", is = "target") => {
    return was === is ? [] : [note(roleChange(was, is), [...path, name], `${was} → ${is}`)];
  });
}

/** The kind of change of a role. Values of another type are compared with other words of the user, so neither is known to permit less. */
function roleChange(before: string, after: string): "widened" | "narrowed" | "changed" {
  const [was, ...wasWords] = wordsOf(before);
  const [is, ...isWords] = wordsOf(after);
  if (was !== is) {
    if (is === "target") return "narrowed";
    return was === "target" || is === "content" ? "widened" : "changed";
  }
  const [wasType, isType] = [wasWords, isWords].map((words) => words.find((word) => /^\w+$/.test(word)));
  if (wasType !== isType) return wasType === "text" ? "narrowed" : "widened";
  return isWords.every((word) => meetsOne(word, wasWords)) ? "narrowed" : "widened";
}

/** The words of a role; a constant and a place count as one word each. */
function wordsOf(role: string): readonly string[] {
  return role.match(/"(?:[^"\\]|\\.)*"|[\w-]+\([^)]*\)|\S+/g) ?? [];
}

/** True if a place lies within one of the others: its values must meet that one's demands and more. */
function meetsOne(word: string, others: readonly string[]): boolean {
  const wider = word.replace(" named)", ")");
  return [word, wider, wider.replace(" whole)", ")")].some((each) => others.includes(each));
}

function compareSecrecy(
  before: ToolManifest["secrecy"],
  after: ToolManifest["secrecy"],
  path: Path,
): readonly ManifestChange[] {
  if (typeof before !== "string" && typeof after !== "string")
    return compareSets(before, after, { path, what: "reader", more: "widened", less: "narrowed" });
  return compareStep([step(before), step(after)], ["private", "readers", "public"], path);
}

function step(secrecy: ToolManifest["secrecy"]): string {
  return typeof secrecy === "string" ? secrecy : "readers";
}

type Held = NonNullable<ToolManifest["constraints"]>;

function compareConstraints(before: Held, after: Held, path: Path): readonly ManifestChange[] {
  const { maxCalls: was = Infinity, onlyAfter: wasAfter = [] } = before;
  const { maxCalls: is = Infinity, onlyAfter: isAfter = [] } = after;
  const calls =
    was === is ? [] : [note(is > was ? "widened" : "narrowed", path, `at most ${was} calls → ${is}`)];
  return [
    ...calls,
    ...compareSets(wasAfter, isAfter, { path, what: "onlyAfter", more: "narrowed", less: "widened" }),
  ];
}

function comparePins(
  before: ToolManifest["mcp"],
  after: ToolManifest["mcp"],
  path: Path,
): readonly ManifestChange[] {
  if (before?.server === after?.server && before?.pin === after?.pin)
    return compareApproval(before, after, path);
  if (before === undefined)
    return [note("widened", path, `it is a tool of the server ${after?.server ?? ""} now`)];
  if (after === undefined)
    return [note("changed", path, `it is no longer a tool of the server ${before.server}`)];
  const what =
    before.server === after.server ? "says something else of it" : `is not ${before.server} any more`;
  return [note("widened", path, `the server ${after.server} ${what} (${after.pin.slice(0, 12)}…)`)];
}

/** The changes of approval. A run that reads descriptions that nobody approved begins untrusted. */
function compareApproval(
  before: ToolManifest["mcp"],
  after: ToolManifest["mcp"],
  path: Path,
): readonly ManifestChange[] {
  if (before?.approved === after?.approved) return [];
  return after?.approved === true
    ? [
        note(
          "widened",
          path,
          `what the server ${after.server} says of it is approved now, and read as trusted`,
        ),
      ]
    : [note("narrowed", path, `what the server ${after?.server ?? ""} says of it is not approved any more`)];
}

function compareInside(
  before: NonNullable<ToolManifest["agents"]>,
  after: NonNullable<ToolManifest["agents"]>,
  { path, compareAgents }: { readonly path: Path; readonly compareAgents: CompareAgents },
): readonly ManifestChange[] {
  return compareRecords(before, after, (name, was, is) => {
    const at = [...path, name];
    if (was === undefined) return [note("widened", at, "a new agent is run by it")];
    if (is === undefined) return [note("narrowed", at, "the agent is gone")];
    if (was === is) return [];
    if (is === null) return [note("widened", at, "it cannot be looked into any more")];
    if (was === null) return [note("changed", at, "it can be looked into now")];
    return compareAgents(was, is, at);
  });
}

/** A value as one line of text, equal for equal values. */
export function textOfValue(value: unknown): string {
  const json = toJson(value);
  return json.ok ? canonicalJson(json.value) : "";
}
