import { WritError } from "../error/writ-error.ts";
import type { EffectOf } from "../tool/acts.ts";
import { isReader } from "../tool/read-result.ts";
import { checkCallable, type Tool } from "../tool/tool.ts";
import { countedTools } from "./account/constraints.ts";
import type { Decision } from "./decision.ts";

/** Tools, and collections of tools, of any depth. */
export type Tools = readonly (Tool | Tools)[];

/** The tools that a skill may call, in a map, so that an inherited property is never taken for a tool. */
export interface AllowList {
  readonly skill: string;
  readonly tools: ReadonlyMap<string, Tool>;
  /**
   * The tools that the model is told of, in that order; undefined for all. Only `tools` decides whether a call
   * is allowed.
   */
  readonly offered?: ReadonlySet<string>;
  /** The offered tools that the model was told of after the run began. */
  readonly late?: ReadonlySet<string>;
  /**
   * The tools before the list was made shorter; undefined if it never was. It allows no call: requests may go on
   * describing a tool that the model was told of, so that they begin alike.
   */
  readonly before?: ReadonlyMap<string, Tool>;
  /** The tools whose uses in a run are counted; undefined if no tool has constraints. */
  readonly counted?: ReadonlySet<string>;
}

/**
 * Makes the allow-list of a skill.
 *
 * @throws WritError `name-taken` if two tools have one name, `definition-invalid` for a value that is not a tool
 */
export function allowList(skill: string, tools: Tools): AllowList {
  const byName = new Map<string, Tool>();
  for (const tool of flattenTools(tools)) {
    if (byName.has(tool.name))
      throw new WritError("name-taken", { kind: "tool", name: tool.name, where: `skill "${skill}"` });
    byName.set(tool.name, tool);
  }
  return { skill, tools: byName, counted: countedTools(byName.values()), offered: firstOffered(byName) };
}

/** The tools that are offered first. Without a catalogue that is every tool. */
function firstOffered(tools: AllowList["tools"]): AllowList["offered"] {
  const offered = [...tools.values()].filter(({ isCatalogued }) => isCatalogued !== true);
  return offered.length === tools.size ? undefined : new Set(offered.map(({ name }) => name));
}

/**
 * The tools that may be called and that the model is told of. Tools found later come last, so that the earlier
 * part of the description stays the same.
 */
export function offeredTools({ tools, offered }: Pick<AllowList, "tools" | "offered">): readonly Tool[] {
  return offered === undefined ? [...tools.values()] : [...offered].flatMap((name) => tools.get(name) ?? []);
}

/** The tools that the run has offered so far, in that order, including those that a call has removed since. */
export function toldTools({ tools, before = tools, offered }: AllowList): readonly Tool[] {
  return offeredTools({ tools: before, offered });
}

/** The tools that a run described when it began, in that order. */
export function toldFirst(list: AllowList): readonly Tool[] {
  const { late } = list;
  const told = toldTools(list);
  return late === undefined ? told : told.filter(({ name }) => !late.has(name));
}

/** The names of the tools that the second list describes and the first does not. */
export function toldBetween(before: AllowList, after: AllowList): readonly string[] {
  if (before === after) return [];
  const known = new Set(toldTools(before));
  return toldTools(after).flatMap((tool) => (known.has(tool) ? [] : [tool.name]));
}

/** The list, with these of its tools offered too. */
export function withOffered(list: AllowList, names: readonly string[]): AllowList {
  const { offered, tools } = list;
  const fresh = offered === undefined ? [] : names.filter((name) => tools.has(name) && !offered.has(name));
  return fresh.length === 0 ? list : { ...list, offered: new Set([...(offered ?? []), ...fresh]) };
}

/** Effects of the tools of a list, by name. Memory has none: what was written can be read again. */
export function effectIn({ tools }: AllowList): EffectOf {
  return (name) => {
    const tool = tools.get(name);
    return tool?.kind === "memory" ? "none" : (tool?.effect ?? "undeclared");
  };
}

/**
 * The list with only these names; names that it does not have are ignored, so that callers need
 * not check them.
 */
export function restrictList(list: AllowList, names: readonly string[]): AllowList {
  const kept = new Set(names);
  const { tools, before = tools } = list;
  const fewer = new Map([...tools].filter(([name, tool]) => kept.has(name) || isReader(tool)));
  return withOffered({ ...list, tools: fewer, before }, names);
}

/** The list for a model that was not told of any tools before: it describes only its own. */
export function toldAnew(list: AllowList): AllowList {
  return { ...list, offered: new Set(offeredTools(list).map(({ name }) => name)), late: undefined };
}

/** The list with a tool of the runtime added as the last and offered; unchanged if it has or had a tool of that name. */
export function withTool(list: AllowList, tool: Tool): AllowList {
  const { tools, before, offered } = list;
  const { name } = tool;
  if ((before ?? tools).has(name)) return list;
  const more = { ...list, tools: new Map([...tools, [name, tool]]) };
  return {
    ...more,
    ...(before === undefined ? {} : { before: new Map([...before, [name, tool]]) }),
    ...(offered === undefined ? {} : { offered: new Set([...offered, name]) }),
  };
}

/** The list, with calls of these tools counted too. */
export function withCounted(list: AllowList, names: readonly string[]): AllowList {
  if (names.length === 0) return list;
  return { ...list, counted: new Set([...(list.counted ?? []), ...names]) };
}

/** All tools of nested collections, in order. @throws WritError `definition-invalid` for a value that is not a tool, or a tool as data */
export function flattenTools(tools: Tools): Tool[] {
  return tools.flatMap((entry) => {
    if (!isTool(entry)) return flattenTools(entry);
    checkCallable(entry);
    return [entry];
  });
}

/** Tells the model that a tool is outside of its list, without saying whether such a tool exists. */
function refusalText(list: AllowList, name: string): string {
  const offered = offeredTools(list).map((tool) => tool.name);
  const left = list.tools.size - offered.length;
  const others = left > 0 ? `, and ${left} that can be looked for` : "";
  return `Tool '${name}' is not allowed for skill '${list.skill}'. Allowed: [${offered.join(", ")}]${others}`;
}

/** The decision that belongs to {@link refusalText}. */
export function refusal(list: AllowList, name: string): Decision {
  return {
    verdict: "deny",
    rule: "allow-list",
    reason: refusalText(list, name),
    remedy: `list the tool in skill "${list.skill}"`,
  };
}

/** Tells a tool from a collection of tools. */
export function isTool(entry: Tool | Tools): entry is Tool {
  return !Array.isArray(entry);
}
