import { WritError } from "../error/writ-error.ts";
import type { EffectOf } from "../tool/acts.ts";
import { isReader } from "../tool/read-result.ts";
import { checkCallable, type Tool } from "../tool/tool.ts";
import { countedTools } from "./account/constraints.ts";
import type { Decision } from "./decision.ts";

/** Tools, and collections of tools, as deep as one likes. */
export type Tools = readonly (Tool | Tools)[];

/** The tools that a skill may call, in a map, so that an inherited member is never taken for a tool. */
export interface AllowList {
  readonly skill: string;
  readonly tools: ReadonlyMap<string, Tool>;
  /**
   * The tools that the model is told of, in the order of telling; undefined for all. A call is held to
   * `tools` alone.
   */
  readonly offered?: ReadonlySet<string>;
  /** Those of which the model was told after the run had begun. */
  readonly late?: ReadonlySet<string>;
  /**
   * The tools before the list was made shorter; undefined for a list that was not. No call is allowed by it: a model that was told of a tool
   * may be told of it in later requests too, so that they begin alike.
   */
  readonly before?: ReadonlyMap<string, Tool>;
  /** Tools whose use in a run is counted; undefined when no tool has constraints. */
  readonly counted?: ReadonlySet<string>;
}

/**
 * Makes the allow-list of a skill.
 *
 * @throws WritError `name-taken` when two tools have one name, `definition-invalid` for what is no tool.
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

/** Without a catalogue everything is offered. */
function firstOffered(tools: AllowList["tools"]): AllowList["offered"] {
  const offered = [...tools.values()].filter(({ isCatalogued }) => isCatalogued !== true);
  return offered.length === tools.size ? undefined : new Set(offered.map(({ name }) => name));
}

/**
 * The tools that may be called and that the model is told of. Those that were found stand last, so that what
 * it was told before stays as it was.
 */
export function offeredTools({ tools, offered }: Pick<AllowList, "tools" | "offered">): readonly Tool[] {
  return offered === undefined ? [...tools.values()] : [...offered].flatMap((name) => tools.get(name) ?? []);
}

/** The tools that the run has offered so far, in the order of telling, with those that a call has taken away since. */
export function toldTools({ tools, before = tools, offered }: AllowList): readonly Tool[] {
  return offeredTools({ tools: before, offered });
}

/** The tools of which a run told when it began, in the order of telling. */
export function toldFirst(list: AllowList): readonly Tool[] {
  const { late } = list;
  const told = toldTools(list);
  return late === undefined ? told : told.filter(({ name }) => !late.has(name));
}

/** The names of the tools that the first list does not tell of and the second does. */
export function toldBetween(before: AllowList, after: AllowList): readonly string[] {
  if (before === after) return [];
  const known = new Set(toldTools(before));
  return toldTools(after).flatMap((tool) => (known.has(tool) ? [] : [tool.name]));
}

/** The list, with these tools offered too, as far as it has them. */
export function withOffered(list: AllowList, names: readonly string[]): AllowList {
  const { offered, tools } = list;
  const fresh = offered === undefined ? [] : names.filter((name) => tools.has(name) && !offered.has(name));
  return fresh.length === 0 ? list : { ...list, offered: new Set([...(offered ?? []), ...fresh]) };
}

/** Effects of the tools of a list, by name. Memory can be read again: writing to it is not an effect. */
export function effectIn({ tools }: AllowList): EffectOf {
  return (name) => {
    const tool = tools.get(name);
    return tool?.kind === "memory" ? "none" : (tool?.effect ?? "undeclared");
  };
}

/**
 * The list with nothing in it but these names; a name that it does not have stays out. Who names tools need
 * not look for them.
 */
export function restrictList(list: AllowList, names: readonly string[]): AllowList {
  const kept = new Set(names);
  const { tools, before = tools } = list;
  const fewer = new Map([...tools].filter(([name, tool]) => kept.has(name) || isReader(tool)));
  return withOffered({ ...list, tools: fewer, before }, names);
}

/** The list, as one of which the model is told that was not told of any tool before: of those in it alone. */
export function toldAnew(list: AllowList): AllowList {
  return { ...list, offered: new Set(offeredTools(list).map(({ name }) => name)), late: undefined };
}

/** The list, with a tool of the runtime that stands last and is offered; a list that has or had one of its name stays as it is. */
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

/** All tools of nested collections, in order. @throws WritError `definition-invalid` for what is no tool, or one as data */
export function flattenTools(tools: Tools): Tool[] {
  return tools.flatMap((entry) => {
    if (!isTool(entry)) return flattenTools(entry);
    checkCallable(entry);
    return [entry];
  });
}

/** Tells the model that a tool is outside of its list, and never that such a tool exists. */
function refusalText(list: AllowList, name: string): string {
  const offered = offeredTools(list).map((tool) => tool.name);
  const left = list.tools.size - offered.length;
  const others = left > 0 ? `, and ${left} that can be looked for` : "";
  return `Tool '${name}' is not allowed for skill '${list.skill}'. Allowed: [${offered.join(", ")}]${others}`;
}

/** The decision that goes with {@link refusalText}. */
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
