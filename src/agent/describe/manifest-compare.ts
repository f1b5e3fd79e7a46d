import { checkArguments } from "../../error/check-shape.ts";
import { list, object, record, string } from "../../util/shape.ts";
import type { Annotation, Rule } from "../../policy/rules/rule.ts";
import { areNeverSilent } from "../../policy/study/narrow.ts";
import { contains, readText } from "./audit-grants.ts";
import type {
  AgentManifest,
  ModelManifest,
  PolicyManifest,
  SkillManifest,
  ToolManifest,
} from "./manifest-data.ts";
import {
  compareRecords,
  compareSets,
  compareFlag,
  compareStep,
  type ManifestChange,
  note,
  type Path,
} from "./manifest-change.ts";
import { compareTool, textOfValue } from "./manifest-compare-tool.ts";

const manifest = object({
  agent: string,
  grants: list(string),
  policy: record,
  budget: record,
  hooks: record,
  skills: record,
});

/**
 * The changes from one manifest to another, place by place. `widened` is anything that lets an agent do more, or
 * binds it less: a new tool, need or grant, a raised effect or bound, a new allow rule, a removed ask or
 * deny rule, a model at another address, a result that is now called trusted, another pin.
 * `narrowed` is the opposite, `changed` neither.
 *
 * @example
 * ```ts
 * import { type AgentManifest, compareManifests } from "writ/policy";
 *
 * export function check(before: AgentManifest, after: AgentManifest): void {
 *   const wider = compareManifests(before, after).filter(({ type }) => type === "widened");
 *   if (wider.length > 0) throw new Error(wider.map(({ path, text }) => `${path}: ${text}`).join("\n"));
 * }
 * ```
 */
export function compareManifests(before: AgentManifest, after: AgentManifest): readonly ManifestChange[] {
  checkArguments("compareManifests()", { before, after }, { before: manifest, after: manifest });
  return compareAgents(before, after, []);
}

function compareAgents(before: AgentManifest, after: AgentManifest, path: Path): readonly ManifestChange[] {
  const renamed =
    before.agent === after.agent
      ? []
      : [note("changed", [...path, "agent"], `${before.agent} → ${after.agent}`)];
  return [
    ...renamed,
    ...compareModels(before.model, after.model, [...path, "model"]),
    ...compareGrants(before.grants, after.grants, [...path, "grants"]),
    ...comparePolicies(before.policy, after.policy, { path: [...path, "policy"], acting: actingIn(before) }),
    ...compareBudgets(before.budget, after.budget, [...path, "budget"]),
    ...compareFlag(before.memory, after.memory, [...path, "memory"]),
    ...compareHooks(before.hooks, after.hooks, [...path, "hooks"]),
    ...compareSkills(before.skills, after.skills, [...path, "skills"]),
  ];
}

function compareModels(
  before: ModelManifest | undefined,
  after: ModelManifest | undefined,
  path: Path,
): readonly ManifestChange[] {
  if (after === undefined)
    return before === undefined ? [] : [note("narrowed", path, `${before.id} is gone`)];
  if (before === undefined) return [note("widened", path, `${after.id} is new`)];
  if (providerOf(before) !== providerOf(after) || before.url !== after.url)
    return [note("widened", path, `${show(before)} → ${show(after)}: somebody else reads what it is told`)];
  const id = before.id === after.id ? [] : [note("changed", path, `${before.id} → ${after.id}`)];
  if (before.apiKeyPresent === after.apiKeyPresent) return id;
  return [...id, note("changed", path, after.apiKeyPresent === true ? "a key is sent" : "no key is sent")];
}

function providerOf({ id }: ModelManifest): string {
  return id.split("/", 1)[0] ?? id;
}

function show({ id, url }: ModelManifest): string {
  return url === undefined ? id : `${id} at ${url}`;
}

function isWithin(grant: string, others: readonly string[]): boolean {
  const own = readText(grant);
  const wide = others.flatMap((other) => readText(other) ?? []);
  return others.includes(grant) || (own !== undefined && wide.some((other) => contains(other, own)));
}

/** The changes of grants. A grant within another one adds nothing. */
function compareGrants(
  before: readonly string[],
  after: readonly string[],
  path: Path,
): readonly ManifestChange[] {
  return [
    ...after
      .filter((each) => !isWithin(each, before))
      .map((each) => note("widened", path, `new grant ${each}`)),
    ...before
      .filter((each) => !isWithin(each, after))
      .map((each) => note("narrowed", path, `${each} is gone or smaller`)),
  ];
}

/** The tools of an agent whose calls are denied by a policy that has no rule for them. */
function actingIn({ skills }: AgentManifest): readonly string[] {
  return Object.values(skills).flatMap(({ tools }) =>
    Object.entries(tools).flatMap(([name, { kind, effect }]) =>
      kind === "knowledge" || kind === "memory" || effect === "none" || effect === "read" ? [] : [name],
    ),
  );
}

/** The place of a policy, and those tools of the agent that act. */
interface OfAgent {
  readonly path: Path;
  readonly acting: readonly string[];
}

function comparePolicies(
  before: PolicyManifest,
  after: PolicyManifest,
  { path, acting }: OfAgent,
): readonly ManifestChange[] {
  const { rules: was, constants: wasConstants = [], tools: wasTools = {} } = before;
  const { rules: is, constants: isConstants = [], tools: isTools = {} } = after;
  if (was === undefined || is === undefined) {
    if (before.name === after.name && was === is) return [];
    const isLost = isKnown(before) && (!isKnown(after) || is === undefined);
    // `sensible` asks about every declared effect after strangers' words; a new allow rule may not ask.
    const mayAllow =
      was === undefined && isKnown(before) && (is ?? []).some((rule) => rule.verdict === "allow");
    return [note(isLost || mayAllow ? "widened" : "changed", path, `${before.name} → ${after.name}`)];
  }
  // Without a rule, calls that act are denied: a rule that asks lets a person allow them.
  const asking = is.filter((rule) => {
    const asked = rule.tools.includes("*") ? acting : rule.tools.filter((tool) => acting.includes(tool));
    return rule.verdict === "ask" && !areNeverSilent(was, asked);
  });
  const inPlaceOfSilence = new Set(asking.flatMap(ruleTexts));
  const verdict = (name: Rule["verdict"]): readonly ManifestChange[] => {
    const list = (rules: readonly Rule[]): string[] =>
      rules.filter((rule) => rule.verdict === name).flatMap(ruleTexts);
    const mayAllow = (text: string): boolean =>
      name === "allow" || (name === "ask" && inPlaceOfSilence.has(text));
    return compareSets(list(was), list(is), {
      path: [...path, "rules"],
      what: `${name} rule`,
      more: (text) => (mayAllow(text) ? "widened" : "narrowed"),
      less: name === "allow" ? "narrowed" : "widened",
    });
  };
  return [
    ...(["allow", "ask", "deny"] as const).flatMap(verdict),
    ...compareSets(wasConstants, isConstants, {
      path: [...path, "constants"],
      what: "constant",
      more: "widened",
      less: "narrowed",
    }),
    ...compareNotes(wasTools, isTools, [...path, "tools"]),
    ...compareNarrowing(before.narrowedBy, after.narrowedBy, { path: [...path, "narrowedBy"], acting }),
  ];
}

function compareNarrowing(
  before: PolicyManifest | undefined,
  after: PolicyManifest | undefined,
  { path, acting }: OfAgent,
): readonly ManifestChange[] {
  if (before !== undefined && after !== undefined) return comparePolicies(before, after, { path, acting });
  if (after !== undefined) return [note("narrowed", path, `it is held to ${after.name} now`)];
  return before === undefined ? [] : [note("widened", path, `it is not held to ${before.name} any more`)];
}

/** True for a policy that can be read: its rules, and its decision when no rule applies. A function cannot. */
function isKnown({ name, rules }: PolicyManifest): boolean {
  return rules !== undefined || name === "sensible";
}

/** The effects of a rule as texts, without its name and reason. An exception has the texts of the same rule without it, and its own. */
function ruleTexts({ tools, when, unless, exception }: Rule): readonly string[] {
  const rule = { tools, ...(when && { when }), ...(unless && { unless }) };
  const text = textOfValue(rule);
  return exception === undefined ? [text] : [text, textOfValue({ ...rule, exception })];
}

/** The changes of annotations of tools, unless a manifest of the tool in a skill already shows them. */
function compareNotes(
  before: NonNullable<PolicyManifest["tools"]>,
  after: NonNullable<PolicyManifest["tools"]>,
  path: Path,
): readonly ManifestChange[] {
  return compareRecords<Annotation>(before, after, (name, was = {}, is = {}) => {
    if (textOfValue(was) === textOfValue(is)) return [];
    const at = [...path, name];
    const reach = [String(was.reaches === "outside"), String(is.reaches === "outside")] as const;
    const steps = [
      ...compareStep(reach, ["true", "false"], [...at, "reaches outside"]),
      ...compareStep([trustText(was), trustText(is)], trusts, [...at, "trusted"]),
    ];
    return steps.length > 0 ? steps : [note("changed", at, "what the policy knows of it")];
  });
}

const trusts = ["in no form", "in one form", "in any form"];

function trustText({ trusted = false }: Annotation): string {
  if (typeof trusted === "object") return "in one form";
  return trusted ? "in any form" : "in no form";
}

function boundText(bound: number): string {
  return bound === Infinity ? "none" : String(bound);
}

function compareBudgets(
  before: AgentManifest["budget"],
  after: AgentManifest["budget"],
  path: Path,
): readonly ManifestChange[] {
  return compareRecords<number | undefined>(before, after, (field, was = Infinity, is = Infinity) => {
    if (was === is) return [];
    return [
      note(is > was ? "widened" : "narrowed", [...path, field], `${boundText(was)} → ${boundText(is)}`),
    ];
  });
}

/** The changes of hooks. A removed hook may have been what restricted the agent. */
function compareHooks(
  before: AgentManifest["hooks"],
  after: AgentManifest["hooks"],
  path: Path,
): readonly ManifestChange[] {
  return compareRecords(before, after, (name, was = [], is = []) =>
    compareSets(was, is, { path: [...path, name], what: "place", more: "changed", less: "widened" }),
  );
}

function compareSkills(
  before: AgentManifest["skills"],
  after: AgentManifest["skills"],
  path: Path,
): readonly ManifestChange[] {
  return compareRecords<SkillManifest>(before, after, (name, was, is) => {
    const at = [...path, name];
    if (was === undefined) {
      const tools = Object.keys(is?.tools ?? {}).join(", ") || "no tools";
      return [
        note("widened", at, is?.type === "plain" ? "a new skill (a function)" : `a new skill with ${tools}`),
      ];
    }
    if (is === undefined) return [note("narrowed", at, "the skill is gone")];
    const type = was.type === is.type ? [] : [note("widened", at, `${was.type} → ${is.type}`)];
    return [...type, ...compareToolLists(was.tools, is.tools, [...at, "tools"])];
  });
}

function compareToolLists(
  before: SkillManifest["tools"],
  after: SkillManifest["tools"],
  path: Path,
): readonly ManifestChange[] {
  return compareRecords<ToolManifest>(before, after, (name, was, is) => {
    const at = [...path, name];
    if (was === undefined) return [note("widened", at, `a new tool, effect ${is?.effect ?? "undeclared"}`)];
    if (is === undefined) return [note("narrowed", at, "the tool is gone")];
    return compareTool(was, is, { path: at, compareAgents });
  });
}
