/**
 * All about sessions and memories: histories, retention, summaries, and the interfaces that their stores implement.
 *
 * @module writ/session
 */
export { type CompactionOptions } from "./session/compaction.ts";
export { type History, historyOf } from "./session/history.ts";
export { type MemoryBank, type MemoryBankOptions, type Remembered } from "./session/memory-bank.ts";
export { inMemorySlots, type MemoryStore } from "./session/memory-store.ts";
export { inMemoryNotes, type NewNote, type Note, type NoteStore } from "./session/note-store.ts";
export { noteTools, type NoteToolsOptions } from "./session/note-tools.ts";
export { type LeaveSession, type SessionVisit } from "./session/one-at-a-time.ts";
export {
  type Digest,
  keepAll,
  type Retention,
  slidingLines,
  summarised,
  tokenBudget,
} from "./session/retention.ts";
export {
  type SessionClaim,
  type SessionClaims,
  type SessionContents,
  type SessionRecord,
  type SessionRun,
  type SessionStore,
} from "./session/session-store.ts";
export {
  type FinishedRun,
  type ForkOptions,
  forkSession,
  type LoadedSession,
  type SessionHandle,
  type SessionOptions,
  type SummariseOptions,
  summariseSession,
} from "./session/session.ts";
export { type Summarise } from "./session/summary.ts";
