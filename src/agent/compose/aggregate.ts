import { callable, optional, record } from "../../util/shape.ts";
import { checkArguments, checkShape, closed } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { type Json, toJson } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";

/** Makes one output from several, in the order of their agents. It must be a pure function: a replay calls it again. */
export type Aggregate<Output, Result, Outputs = readonly Output[]> = (
  outputs: Outputs,
  names: readonly string[],
) => Result | Promise<Result>;

/** Picks one of several outputs: made by {@link majorityVote}, {@link bestOf} and {@link weighted}. */
export interface Selection<Output> {
  /** The index of the picked output. Outputs come in the order of their agents. */
  readonly pick: (outputs: readonly Output[], names: readonly string[]) => number;
  /** The agents that it names, which must be those that it is used with. Left out if it names none. */
  readonly agents?: readonly string[];
}

/** Options of a vote. */
export interface VoteOptions<Output> {
  /** The key of an output: outputs with the same JSON here count as the same answer. Default: the output itself. */
  readonly by?: (output: Output) => unknown;
}

const voteShape = closed({ by: optional(callable) });

/**
 * The answer that most agents give; in a tie, the one that the earliest agent gave. Answers are the same if their JSON is, in any order
 * of fields, or the JSON of what `by` returns for them.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { majorityVote, parallel } from "writ/compose";
 *
 * const solve = agent({ name: "solve", model: "ollama/qwen2.5:7b" });
 * export const sure = parallel({ a: solve, b: solve, c: solve }, { aggregate: majorityVote({ by: (text) => text.trim() }) });
 * ```
 */
export function majorityVote<Output>(options: VoteOptions<Output> = {}): Selection<Output> {
  checkShape("majorityVote()", options, voteShape);
  const { by } = options;
  return { pick: (outputs) => vote(outputs, { by, weightOf: () => 1 }) };
}

/**
 * The output with the highest score; in a tie, that of the earliest agent. A score that is not a number is below all others.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { bestOf, parallel } from "writ/compose";
 *
 * const draft = agent({ name: "draft", model: "ollama/qwen2.5:7b" });
 * export const shortest = parallel({ a: draft, b: draft }, { aggregate: bestOf((text) => -text.length) });
 * ```
 */
export function bestOf<Output>(score: (output: Output) => number): Selection<Output> {
  checkArguments("bestOf()", { score }, { score: callable });
  const scored = (output: Output): number => {
    const given: unknown = score(output);
    if (given instanceof Promise) throw new TypeError("a score is a promise: `score` must not be `async`");
    return Number(given);
  };
  return { pick: (outputs) => highest(outputs.map(scored)) };
}

/**
 * A vote in which agents have weights: the answer whose agents weigh most together; in a tie, the one that the earliest gave.
 * Every agent needs a weight, by its name.
 *
 * @throws WritError `definition-invalid` for a weight that is not a number of at least 0
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { parallel, weighted } from "writ/compose";
 *
 * const expert = agent({ name: "expert", model: "ollama/qwen2.5:14b" });
 * const novice = agent({ name: "novice", model: "ollama/qwen2.5:0.5b" });
 * export const panel = parallel([expert, novice], { aggregate: weighted({ expert: 3, novice: 1 }) });
 * ```
 */
export function weighted<Output>(
  weights: Readonly<Record<string, number>>,
  options: VoteOptions<Output> = {},
): Selection<Output> {
  checkArguments("weighted()", { weights, options }, { weights: record, options: voteShape });
  const { by } = options;
  const byName = new Map(Object.entries(weights));
  for (const [name, weight] of byName) {
    if (weight >= 0 && weight !== Infinity) continue;
    const reason = `the weight of "${name}" must be a number from 0 on, and is ${String(weight)}.`;
    throw new WritError("definition-invalid", { where: "weighted()", reason });
  }
  return {
    agents: [...byName.keys()],
    pick: (outputs, names) => vote(outputs, { by, weightOf: (index) => byName.get(names[index] ?? "") ?? 0 }),
  };
}

interface Voting<Output> extends VoteOptions<Output> {
  readonly weightOf: (index: number) => number;
}

function vote<Output>(outputs: readonly Output[], { by, weightOf }: Voting<Output>): number {
  const answers = outputs.map((output) => jsonOf(by === undefined ? output : by(output)));
  const weights = answers.map((answer) =>
    answers.reduce((sum: number, other, index) => (sameJson(answer, other) ? sum + weightOf(index) : sum), 0),
  );
  return highest(weights);
}

function jsonOf(value: unknown): Json {
  const json = toJson(value);
  if (json.ok) return json.value;
  throw new TypeError(`an answer is not JSON: ${json.reason}`);
}

/** The index of the highest number, the first of several. */
function highest(numbers: readonly number[]): number {
  const most = numbers.reduce((high, number) => (number > high ? number : high), -Infinity);
  return Math.max(0, numbers.indexOf(most));
}
