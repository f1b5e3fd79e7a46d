/**
 * Runs that outlast their process: the port of their stores.
 *
 * @module writ/durable
 */
export {
  answerRecord,
  type Erased,
  type NewRun,
  type QuestionAnswer,
  type RunEnd,
  type RunFilter,
  type RunJournal,
  type RunStatus,
  type RunStore,
  type StoredRun,
  type WaitingQuestion,
} from "./durable/run-store.ts";
