/**
 * Compositions of agents: you run, watch and cancel a composition like one agent.
 *
 * @module writ/compose
 */
export {
  type Aggregate,
  bestOf,
  majorityVote,
  type Selection,
  type VoteOptions,
  weighted,
} from "./agent/compose/aggregate.ts";
export {
  branch,
  type BranchDefinition,
  type BranchOn,
  type CaseValue,
  type OpenBranchDefinition,
} from "./agent/compose/branch.ts";
export { type EachOptions } from "./agent/compose/each.ts";
export { type ChangedInput, type ChangedOutput, type Changes, type Kept } from "./agent/changed.ts";
export { type Composite, type CompositeBudget, type CompositeChanges } from "./agent/compose/composite.ts";
export { type RunInside } from "./agent/compose/course.ts";
export {
  type Discussion,
  forum,
  type ForumDefinition,
  type Participant,
  type Statement,
} from "./agent/compose/forum.ts";
export { type InputOfAll, type OutputOfOne } from "./agent/compose/members.ts";
export {
  type AggregateOptions,
  type OneOf,
  type OutputList,
  type OutputsOf,
  parallel,
  type ParallelAgents,
  type ParallelOptions,
} from "./agent/compose/parallel.ts";
export { pipe } from "./agent/compose/pipe.ts";
export { race } from "./agent/compose/race.ts";
export { repeat, type RepeatOptions, type Round, type UntilOptions } from "./agent/compose/repeat.ts";
export { wrap } from "./agent/compose/wrap.ts";
export { type InputOf, type MadeFor, type OutputOf } from "./agent/definition.ts";
export { type Subagent, subagents, type SubagentsOptions } from "./agent/subagents.ts";
