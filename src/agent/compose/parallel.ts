import { WritError } from "../../error/writ-error.ts";
import { aboutOf, type Runnable } from "../runnable.ts";
import type { Aggregate, Selection } from "./aggregate.ts";
import { type Composite, composite } from "./composite.ts";
import { askAuthor } from "./course.ts";
import { type EachOptions, forEachItem } from "./each.ts";
import {
  checkNames,
  inputOfAll,
  type InputOfAll,
  type Member,
  membersOf,
  type OutputOfOne,
} from "./members.ts";
import { together } from "./together.ts";
import { atOnce, checkShape, closed } from "../../error/check-shape.ts";
import { wholeJson } from "../../util/json.ts";
import { callable, either, having, optional } from "../../util/shape.ts";

/** Agents that run side by side: a list, or an object with names for them. */
export type ParallelAgents = readonly Runnable[] | Readonly<Record<string, Runnable>>;

/** The type of any one of the agents. */
export type OneOf<Agents> = Agents extends readonly Runnable[]
  ? Agents[number]
  : Extract<Agents[keyof Agents], Runnable>;

/** The outputs of agents, in their order or by their names. */
export type OutputsOf<Agents> = { -readonly [Key in keyof Agents]: OutputOfOne<Agents[Key]> };

/** The outputs as an aggregate gets them: those of a list of agents each with its type. */
export type OutputList<Agents> = Agents extends readonly Runnable[]
  ? Readonly<OutputsOf<Agents>>
  : readonly OutputOfOne<OneOf<Agents>>[];

/** Options of agents that run side by side. */
export interface ParallelOptions {
  /** The number of agents that run at a time. Default: all. */
  readonly concurrency?: number;
}

/** Options of agents that run side by side and whose outputs become one. */
export interface AggregateOptions<Aggregated> extends ParallelOptions {
  /** A selection of one output ({@link majorityVote}, {@link bestOf}, {@link weighted}), or a function that makes one from all. */
  readonly aggregate: Aggregated;
}

/**
 * Gives several agents the same input at the same time. The output is the list of their outputs, in the order of the agents; for agents given by
 * name, an object with those names; or the result of `aggregate`. One agent with `each` runs once for each item, and the output is the list of
 * its outputs, in the order of the items. An agent that does not answer ends the composition with its outcome, and the others are cancelled.
 *
 * @throws WritError `name-taken` if two agents have one name: give one of them another, `parallel({ first: a, second: a })`;
 * `definition-invalid` for no agents, a value that is not an agent, a `concurrency` that is no whole number from 1 on, or an `aggregate` that names other agents
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { majorityVote, parallel } from "writ/compose";
 *
 * const judge = agent({ name: "judge", model: "ollama/qwen2.5:7b", instructions: "Answer yes or no." });
 *
 * const jury = parallel({ first: judge, second: judge, third: judge }, { aggregate: majorityVote() });
 * console.log(await jury("Is a tomato a fruit?"));
 *
 * const both = parallel({ pro: judge, contra: judge });
 * const { pro, contra } = await both("Is a tomato a fruit?");
 * console.log(pro, contra);
 *
 * const lines = parallel(judge, { each: (text: string) => text.split("\n"), concurrency: 4 });
 * console.log(await lines("Tea is hot.\nIce is hot."));
 * ```
 */
export function parallel<const Agents extends ParallelAgents>(
  agents: Agents,
  options: AggregateOptions<Selection<OutputOfOne<OneOf<Agents>>>>,
): Composite<InputOfAll<OneOf<Agents>>, OutputOfOne<OneOf<Agents>>>;
export function parallel<const Agents extends ParallelAgents, Result>(
  agents: Agents,
  options: AggregateOptions<Aggregate<OutputOfOne<OneOf<Agents>>, Result, OutputList<Agents>>>,
): Composite<InputOfAll<OneOf<Agents>>, Result>;
export function parallel<const Agents extends ParallelAgents>(
  agents: Agents,
  options?: ParallelOptions,
): Composite<InputOfAll<OneOf<Agents>>, OutputsOf<Agents>>;
export function parallel<Input, Item, Output>(
  agent: Runnable<Item, Output>,
  options: EachOptions<Input, NoInfer<Item>>,
): Composite<Input, readonly Output[]>;
export function parallel(
  agents: ParallelAgents | Runnable,
  options: SideBySide & Partial<EachOptions<never, unknown>> = {},
): Composite {
  return isOne(agents) ? forEachItem(agents, options) : sideBySide(agents, options);
}

type SideBySide = Partial<AggregateOptions<Selection<never> | Aggregate<never, unknown>>>;

/** True for one agent, which is no list of agents. */
const isOne = (agents: ParallelAgents | Runnable): agents is Runnable => aboutOf(agents) !== undefined;

function sideBySide(agents: ParallelAgents, options: SideBySide): Composite {
  checkShape("parallel()", options, shape);
  const { aggregate, concurrency = Infinity } = options;
  const members = membersOf(agents, "parallel()");
  const names = members.map(({ name }) => name);
  checkNames(members, "parallel()");
  checkAggregate(aggregate, members);
  return composite({
    name: `parallel(${names.join(", ")})`,
    members,
    input: inputOfAll(members),
    outputs: [undefined],
    async course(input, run) {
      const outputs = await together({ members, input, until: "failure", concurrency }, run);
      if (aggregate === undefined)
        return Array.isArray(agents)
          ? outputs
          : Object.fromEntries(outputs.map((output, index) => [names[index], output]));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the signatures hold the author's function to these outputs
      const given = outputs as readonly never[];
      const ask = async (): Promise<unknown> =>
        typeof aggregate === "function"
          ? shown(await aggregate(given, names))
          : outputs[aggregate.pick(given, names)];
      return askAuthor({ place: "aggregate", name: "aggregate", ask }, run);
    },
  });
}

/** The value that an author's function made. @throws TypeError for one of which an answer would show nothing */
function shown(value: unknown): unknown {
  const json = wholeJson(value);
  if (!json.ok) throw new TypeError(`its result is not JSON: ${json.reason}`);
  return value;
}

function checkAggregate(
  aggregate: Selection<never> | Aggregate<never, unknown> | undefined,
  members: readonly Member[],
): void {
  const where = "parallel()";
  if (typeof aggregate !== "object" || aggregate.agents === undefined) return;
  const wanted = new Set(aggregate.agents);
  const missing = members.find(({ name }) => !wanted.has(name));
  const other = aggregate.agents.find((name) => members.every((member) => member.name !== name));
  if (missing === undefined && other === undefined) return;
  const reason =
    other === undefined
      ? `the aggregate says nothing of the agent "${missing?.name ?? ""}".`
      : `the aggregate speaks of an agent "${other}", which is not in it.`;
  throw new WritError("definition-invalid", { where, reason });
}

const selects = either(callable, having("majorityVote(), bestOf() or weighted()", "pick"));
const shape = closed({ concurrency: optional(atOnce), aggregate: optional(selects) });
