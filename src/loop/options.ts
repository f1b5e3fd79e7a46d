import type { Outcome } from "../event/outcome.ts";
import type { Drivers } from "../driver/choose.ts";
import type { WorkedExample } from "../driver/driver.ts";
import type { WritError } from "../error/writ-error.ts";
import type { Approve } from "../executor/options.ts";
import type { Gate } from "../executor/prepare.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { Model, ModelSettings, ToolChoice } from "../model/model.ts";
import type { Budget, Limits } from "../policy/budget.ts";
import type { Json } from "../util/json.ts";

/** The author's output made of an answer, or what the model is told so that it answers again. */
export type ReadAnswer =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly reason: string; readonly feedback: string };

/** Everything a run of the loop works with. Nothing of it changes while it runs. */
export interface LoopOptions {
  /** Stands in the idempotency keys of calls: the same for a run that goes on. */
  readonly runId: string;
  readonly gate: Gate;
  readonly model: Model;
  readonly drivers: Drivers;
  readonly limits: Limits;
  readonly price?: Budget["price"];
  readonly settings: ModelSettings;
  readonly examples: readonly WorkedExample[];
  readonly toolChoice: ToolChoice;
  /** `answer`: in the last turn of the budget the model may call no tools. */
  readonly lastTurn: "tools" | "answer";
  readonly concurrency: number;
  readonly onUnknownTool: "feedback" | "throw";
  readonly throwOnToolFailure: boolean;
  readonly journal: Journal;
  readonly host: Host;
  readonly signal?: AbortSignal;
  /** Whether somebody watches. If not, no event is made at all. */
  readonly watched: boolean;
  readonly approve?: Approve;
  /** What was said before, ending with what the user asks. */
  readonly transcript: ReadyTranscript;
  readonly input: Json;
  readonly readAnswer: (content: Json) => ReadAnswer | Promise<ReadAnswer>;
}

/** What a run of the loop ends with. `error` is the error of an outcome that is not an answer; `output` is there when it is one. */
export interface LoopResult {
  readonly outcome: Outcome;
  readonly output?: unknown;
  readonly error?: WritError;
  readonly transcript: ReadyTranscript;
  readonly usage: Usage;
  readonly turns: number;
}

/** Why a run was stopped from outside its own course. */
export type StopReason =
  | { readonly type: "cancelled"; readonly reason: string }
  | { readonly type: "duration" };
