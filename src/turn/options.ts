import type { Drivers } from "../driver/choose.ts";
import type { WorkedExample } from "../driver/driver.ts";
import type { Gate } from "../run/gate.ts";
import type { RunAccounts } from "../run/accounts.ts";
import type { RunContext } from "../run/context.ts";
import type { Approvals, Approve } from "../run/approval.ts";
import type { Scope } from "../run/scope.ts";
import type { Level } from "../tool/power-port.ts";
import type { Hooks } from "../hook/run-hooks.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { Model, ModelSettings, ToolChoice } from "../model/model.ts";
import type { RetryPace } from "../model/retry.ts";
import type { ModelTimeout } from "../model/timeout.ts";
import type { FinishReason } from "../message/message.ts";
import type { Budget, Ledger, Limits } from "../policy/account/budget.ts";
import type { Schema } from "../schema/schema.ts";
import type { Act, EffectOf } from "../tool/acts.ts";
import type { Mode } from "../tool/tool.ts";
import type { Checkpoint } from "../run/checkpoint.ts";
import type { Json } from "../util/json.ts";

/** The author's output made of an answer, or what the model is told so that it answers again. */
export type ReadAnswer =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly reason: string; readonly feedback: string };

/** A transcript without its oldest turns. The tokens are estimates. */
export interface Compacted {
  readonly transcript: ReadyTranscript;
  readonly droppedTurns: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The calls of the run that may have changed something and no longer stand in it. */
  readonly acts: readonly Act[];
}

/** The knowledge of a compaction about the calls in a transcript. */
export interface CompactedActs {
  /** Those that earlier compactions took out. */
  readonly acts: readonly Act[];
  readonly effectOf: EffectOf;
  /** The provider says that it is too long, whatever the estimate. */
  readonly isRefused?: boolean;
  /** Told where it waits with a summary, by which too little would be gained. */
  readonly waits?: (atTokens: number) => void;
}

/**
 * Takes the oldest turns out of a transcript that has become too long; undefined when it has not. What it asks the world (a summary) goes
 * through `once`, which a journal records. Calls that changed something are told of in the place of what goes.
 */
export type Compact = (
  transcript: ReadyTranscript,
  once: (ask: () => Promise<string>) => Promise<string>,
  known?: CompactedActs,
) => Promise<Compacted | undefined> | undefined;

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
  /** Results that are not trusted are marked for the model. */
  readonly marks: boolean;
  /** `answer`: in the last turn of the budget the model may call no tools. */
  readonly lastTurn: "tools" | "answer";
  readonly concurrency: number | undefined;
  /** The pace at which failed requests are made again. */
  readonly retry: RetryPace | false;
  /** The longest silences of the model. */
  readonly timeout?: ModelTimeout;
  readonly endOn: RunContext["endOn"];
  readonly hooks: Hooks;
  readonly executor?: RunContext["executor"];
  /** Takes old turns out of what the model is sent; undefined keeps all. */
  readonly compact?: Compact;
  readonly journal: Journal;
  readonly host: Host;
  readonly approve: Approve | undefined;
  readonly onWait: RunContext["onWait"];
  readonly approvals: Approvals | undefined;
  readonly leaving: AbortSignal | undefined;
  /** The run around this one. */
  readonly parent?: Scope;
  /** Its own level among the runs inside each other. */
  readonly level: Level;
  /** The accounts that pay for the run, and for what surrounds it. */
  readonly accounts?: RunAccounts;
  /** The checkpoint at which the run was left; it goes on there. */
  readonly from?: Checkpoint;
  /** The spending before the first turn: choosing a skill can cost a model call. */
  readonly spent?: { readonly ledger: Ledger; readonly usage: Usage };
  /** Told the state after each turn; the next turn waits for it. */
  readonly onTurn?: (state: Checkpoint) => Promise<void>;
  /** Asked before calls that may change something; what it throws ends the run, and they do not run. */
  readonly beforeEffect?: () => Promise<void>;
  /** The modes that narrow the run from its beginning. */
  readonly modes?: readonly Mode[];
  /** The part of a bound at which its threshold is told. */
  readonly warnAt: number;
  /** The conversation so far, ending with what the user asks. */
  readonly transcript: ReadyTranscript;
  readonly input: Json;
  /** The schema of the answer, for drivers and models that can be held to it. */
  readonly output?: Schema;
  readonly readAnswer: (content: Json, finishReason: FinishReason) => ReadAnswer | Promise<ReadAnswer>;
}
