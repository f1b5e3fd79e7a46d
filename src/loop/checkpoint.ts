import type { Outcome } from "../event/outcome.ts";
import type { TranscriptJson } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { Ledger } from "../policy/budget.ts";
import type { Mode } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";

/**
 * A run between two turns, as JSON: every call has its result, nothing is under way. It can be kept anywhere and the run resumed from it, on
 * another machine too, with `agent.resume(checkpoint)`.
 */
export interface Checkpoint {
  readonly runId: string;
  readonly agent: string;
  readonly skill: string;
  readonly input: Json;
  /** `running` between two turns; how the run ended after the last. */
  readonly status: "running" | Outcome["type"];
  readonly transcript: TranscriptJson;
  readonly ledger: Ledger;
  readonly usage: Usage;
  readonly driver: number;
  /** What calls changed for the rest of the run, in their order. */
  readonly modes: readonly Mode[];
  /** Milliseconds that the run has taken; waiting between two parts of it does not count. */
  readonly elapsedMs: number;
}
