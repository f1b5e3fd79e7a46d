/**
 * Rule for the calls of an output. `one`: the one call of the answer, to the only tool there is. `picked`:
 * the one call of the answer, to the right one of several tools. `several`: the calls of the answer in any
 * order. `none`: no call at all. `some`: any call.
 */
export type BfclRule = "one" | "picked" | "several" | "none" | "some";

/**
 * The categories of the Berkeley Function Calling Leaderboard that can be judged by the calls of one reply. Left out: Java and JavaScript
 * (their arguments are source text of these languages), several turns, memory, web search.
 */
export type BfclCategory =
  | "simple_python"
  | "multiple"
  | "parallel"
  | "parallel_multiple"
  | "irrelevance"
  | "live_simple"
  | "live_multiple"
  | "live_parallel"
  | "live_parallel_multiple"
  | "live_irrelevance"
  | "live_relevance";

const rules: Readonly<Record<BfclCategory, BfclRule>> = {
  simple_python: "one",
  multiple: "picked",
  parallel: "several",
  parallel_multiple: "several",
  irrelevance: "none",
  live_simple: "one",
  live_multiple: "picked",
  live_parallel: "several",
  live_parallel_multiple: "several",
  live_irrelevance: "none",
  live_relevance: "some",
};

/** All of {@link BfclCategory}, in the order in which they are shown. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record are typed as any text
export const bfclCategories: readonly BfclCategory[] = Object.keys(rules) as BfclCategory[];

/** Rule of a category. */
export function ruleOf(category: BfclCategory): BfclRule {
  return rules[category];
}

/** True for a category that counts for restraint (a call is wrong), and not for accuracy. */
export function isRestraint(category: BfclCategory): boolean {
  return ruleOf(category) === "none";
}

/** Names of the categories before version 4 of the leaderboard. */
const earlierNames: Readonly<Record<string, BfclCategory>> = {
  simple: "simple_python",
  multiple_function: "multiple",
  parallel_function: "parallel",
  parallel_multiple_function: "parallel_multiple",
  relevance: "irrelevance",
};

/** The category of a name, also of one that it had earlier; undefined for those that are not judged. */
export function categoryOf(name: string): BfclCategory | undefined {
  return (
    bfclCategories.find((category) => category === name) ??
    (Object.hasOwn(earlierNames, name) ? earlierNames[name] : undefined)
  );
}

/** Parts of an id: `relevance_7` is case `irrelevance_7` of the category `irrelevance`. */
export interface CaseId {
  /** The part before the number, as it is written. */
  readonly prefix: string;
  readonly category: BfclCategory | undefined;
  /** The id of the case in version 4; the id as it is written for a category that is not judged. */
  readonly id: string;
}

/** Reads the id of a case or of an output, of any version. */
export function caseIdOf(written: string): CaseId {
  const [, prefix = written, number = ""] = /^(.+)_(\d+(?:-\d+-\d+)?)$/.exec(written) ?? [];
  const category = number === "" ? undefined : categoryOf(prefix);
  return { prefix, category, id: category === undefined ? written : `${category}_${number}` };
}
