import type { Drivers } from "../driver/choose.ts";
import type { WorkedExample } from "../driver/driver.ts";
import type { Gate } from "../run/gate.ts";
import type { RunAccounts } from "../run/accounts.ts";
import type { RunContext } from "../run/context.ts";
import type { Approve, TermsInRun } from "../run/approval.ts";
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

/** The author's output, made from an answer; or the message with which the model is asked to answer again. */
export type ReadAnswer =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly reason: string; readonly feedback: string };

/** A transcript without its oldest turns. Token counts are estimates. */
export interface Compacted {
  readonly transcript: ReadyTranscript;
  readonly droppedTurns: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The calls of the run that may have changed something and that the transcript no longer has. */
  readonly acts: readonly Act[];
}

/** Facts for a compaction about the calls in a transcript. */
export interface CompactedActs {
  /** The acts that earlier compactions took out. */
  readonly acts: readonly Act[];
  readonly effectOf: EffectOf;
  /** True if the provider said that the transcript is too long, whatever the estimate. */
  readonly isRefused?: boolean;
  /** Called if the compaction puts off a summary that would gain too little. */
  readonly waits?: (atTokens: number) => void;
}

/**
 * Takes the oldest turns out of a transcript that has become too long; undefined if it has not. Requests to the world (a summary) go
 * through `once`, which a journal records. The calls that changed something are listed in place of the removed turns.
 */
export type Compact = (
  transcript: ReadyTranscript,
  once: (ask: () => Promise<string>) => Promise<string>,
  known?: CompactedActs,
) => Promise<Compacted | undefined> | undefined;

/** Everything that a run of the loop works with. It does not change during the run. */
export interface LoopOptions {
  /** Part of the idempotency keys of calls: it stays the same when the run goes on. */
  readonly runId: string;
  readonly gate: Gate;
  readonly model: Model;
  readonly drivers: Drivers;
  readonly limits: Limits;
  readonly price?: Budget["price"];
  readonly settings: ModelSettings;
  readonly examples: readonly WorkedExample[];
  readonly toolChoice: ToolChoice;
  /** True if untrusted results are marked for the model. */
  readonly marks: boolean;
  /** `answer`: in the last turn of the budget the model may not call tools. */
  readonly lastTurn: "tools" | "answer";
  readonly concurrency: number | undefined;
  /** The pace of retries after failed requests. */
  readonly retry: RetryPace | false;
  /** The longest silences of the model. */
  readonly timeout?: ModelTimeout;
  readonly endOn: RunContext["endOn"];
  readonly hooks: Hooks;
  readonly executor?: RunContext["executor"];
  /** Takes old turns out of what is sent to the model; undefined keeps all. */
  readonly compact?: Compact;
  readonly journal: Journal;
  readonly host: Host;
  readonly approve: Approve | undefined;
  readonly onWait: RunContext["onWait"];
  readonly approvals: TermsInRun | undefined;
  readonly leaving: AbortSignal | undefined;
  /** The call around this run. */
  readonly parent?: Scope;
  /** The level of the run: its depth inside other runs, and the bound on it. */
  readonly level: Level;
  /** The accounts that pay for the run and for those around it. */
  readonly accounts?: RunAccounts;
  /** The checkpoint from which the run goes on. */
  readonly from?: Checkpoint;
  /** The spending before the first turn: choosing a skill can cost a model call. */
  readonly spent?: { readonly ledger: Ledger; readonly usage: Usage };
  /** Receives the state after each turn; the next turn waits for it. */
  readonly onTurn?: (state: Checkpoint) => Promise<void>;
  /** Asked before calls that may change something. If it throws, the run ends and the calls do not run. */
  readonly beforeEffect?: () => Promise<void>;
  /** The modes that narrow the run from the beginning. */
  readonly modes?: readonly Mode[];
  /** The fraction of a bound at which its threshold is told. */
  readonly warnAt: number;
  /** The conversation so far, ending with the user's input. */
  readonly transcript: ReadyTranscript;
  readonly input: Json;
  /** The schema of the answer, for drivers and models that can hold to it. */
  readonly output?: Schema;
  readonly readAnswer: (content: Json, finishReason: FinishReason) => ReadAnswer | Promise<ReadAnswer>;
}
