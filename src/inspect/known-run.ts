import type { AgentManifest } from "../agent/describe/manifest-data.ts";
import type { StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import type { Fact } from "../event/event.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import type { RulePlaces } from "./rule-places.ts";

/** A run as far as it is known. Without `facts`, only from its records. */
export interface KnownRun {
  readonly run: StoredRun;
  readonly records: readonly JournalRecord[];
  readonly questions: readonly WaitingQuestion[];
  /** The facts from a replay with the agent's program. */
  readonly facts?: readonly Fact[];
  readonly manifest?: AgentManifest;
  readonly instructions?: string;
  /** The places where the rules of its policy are written. */
  readonly places?: RulePlaces;
  /** The reason why there are no facts, and other remarks, in whole sentences. */
  readonly notes?: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}
