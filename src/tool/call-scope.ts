import type { ReadyTranscript } from "../message/transcript.ts";

/** The run around a call, as its tool sees it. */
export interface CallScope {
  readonly runId: string;
  readonly agent: string;
  readonly skill: string;
  readonly turn: number;
  /** 0 for an outermost run. */
  readonly depth: number;
  /** The conversation before the reply that made the call. */
  readonly transcript: ReadyTranscript;
}
