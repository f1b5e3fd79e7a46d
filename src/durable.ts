/**
 * Durable runs, which outlast their process, and the interface that their stores implement.
 *
 * @module writ/durable
 */
export { durableRuns } from "./adapters/durable-runs.ts";
export { callerSignal, type CallerTool } from "./durable/caller-tools.ts";
export { type DispatchedRun, type Dispatcher, type Serving, type Workplace } from "./durable/dispatcher.ts";
export { type DurableOptions } from "./durable/durable-options.ts";
export { type DurableRuns } from "./durable/durable-runs.ts";
export { type FollowOptions } from "./durable/follow.ts";
export { type RunForkOptions } from "./durable/fork.ts";
export { memoryRuns } from "./durable/memory-runs.ts";
export { type StartOptions } from "./durable/new-run.ts";
export { type StrandedRun } from "./durable/stranded.ts";
export { type RunWorker, type WorkOptions } from "./durable/worker.ts";
export { answerRecord } from "./durable/answer-record.ts";
export {
  type Erased,
  type ForkOrigin,
  type MovedQuestion,
  type MovedRun,
  type NewRun,
  type QuestionAnswer,
  type QuestionFilter,
  type RunEnd,
  type RunFilter,
  type RunJournal,
  type RunSignal,
  type RunStatus,
  type RunStore,
  type ShownRun,
  type StoredRun,
  type WaitingQuestion,
} from "./durable/run-store.ts";
export { type SentSignal } from "./durable/signals.ts";
export { type Settlement } from "./tool/after-crash.ts";
