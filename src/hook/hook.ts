import type { WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import type { FinishReason, Message, ReplyMessage, ToolResult } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { ModelSettings, ToolChoice } from "../model/model.ts";
import type { BudgetField, Excess } from "../policy/account/budget.ts";
import type { Json } from "../util/json.ts";

/** The input of a hook in each place, and the fields that it may return. Any other field is refused. */
export interface HookPlaces {
  /** Before anything else. The input is as the caller passed it, and so is a hook's replacement: the schema of the agent parses it. */
  readonly beforeRun: { at: { readonly agent: string; readonly input: Json }; may: { input?: Json } };
  /** After a skill was chosen. `skill` takes another of the agent's skills; `deny` refuses the run. */
  readonly beforeSkill: {
    at: { readonly skill: string; readonly input: Json };
    may: { skill?: string; deny?: string };
  };
  /** Before the model is asked. `say` is added as a user message. `answer` ends the run with that answer, `deny` ends it as refused: the model is not asked. */
  readonly beforeTurn: {
    at: { readonly turn: number; readonly transcript: ReadyTranscript };
    may: { say?: string; answer?: Json; deny?: string };
  };
  /** Before the request is sent. A replacement is for this request only; the transcript stays the same. */
  readonly beforeModel: {
    at: {
      readonly turn: number;
      readonly messages: readonly Message[];
      readonly settings: ModelSettings;
      readonly toolChoice: ToolChoice;
    };
    may: { messages?: readonly Message[]; settings?: ModelSettings; toolChoice?: ToolChoice };
  };
  /** After the model replied, before its calls are judged. */
  readonly afterModel: {
    at: {
      readonly turn: number;
      readonly message: ReplyMessage;
      readonly finishReason: FinishReason;
      readonly usage: Usage;
    };
    may: { message?: ReplyMessage };
  };
  /**
   * Before a call that the allow-list permits is checked. New arguments are checked like the model's; `deny` tells the model why the call did not
   * run; `result` takes the place of running it.
   */
  readonly beforeToolCall: {
    at: { readonly turn: number; readonly callId: string; readonly tool: string; readonly arguments: Json };
    may: { arguments?: Json; deny?: string; result?: Json };
  };
  /** After a call ran or failed, before anybody is told of its result. If only `text` is changed, the `value` is dropped. */
  readonly afterToolCall: {
    at: {
      readonly turn: number;
      readonly callId: string;
      readonly tool: string;
      readonly arguments: Json;
      readonly result: ToolResult;
    };
    may: { result?: ToolResult };
  };
  /** After a turn that was not the last. `say` is added as a user message; `stop` ends the run as cancelled. */
  readonly afterTurn: {
    at: { readonly turn: number; readonly transcript: ReadyTranscript; readonly usage: Usage };
    may: { say?: string; stop?: string };
  };
  /** A bound is nearly used up (`budget.warnAt`); once for each bound, and again after it was extended. */
  readonly onBudgetThreshold: {
    at: { readonly turn: number; readonly field: BudgetField; readonly used: number; readonly limit: number };
    may: { readonly [field in never]: never };
  };
  /**
   * A bound was met. `extend` is the new bound, which must be larger (`repeats` and bounds of a single call cannot be raised); `checkpoint`
   * suspends the run, so that it can be resumed. If time is over in the middle of a turn, the turn goes on while this is asked, for at most 10
   * seconds.
   */
  readonly onBudgetExceeded: {
    at: { readonly turn: number } & Excess<BudgetField>;
    may: { extend?: number; checkpoint?: boolean };
  };
  /** A model call failed. `retryAfterMs` retries; `answer` takes the place of the reply. Otherwise the run fails. */
  readonly onError: {
    at: { readonly turn: number; readonly attempt: number; readonly error: WritError };
    may: { retryAfterMs?: number; answer?: Json };
  };
  /** The run is about to end with an answer, or by a stop of the author (`endOn`, `afterTurn`). `continue` is said to the model, and the run goes on. */
  readonly onStop: {
    at: { readonly turn: number; readonly outcome: Outcome };
    may: { continue?: string };
  };
  /** The run ended in any way except by being stopped or broken. Only its output can be replaced, and only if it has one. */
  readonly afterRun: {
    at: { readonly outcome: Outcome; readonly output: Json; readonly usage: Usage };
    may: { output?: Json };
  };
}

/** A place in a run where hooks are asked. */
export type HookPlace = keyof HookPlaces;

/** The input of a hook in a place. */
export type HookInput<Place extends HookPlace> = HookPlaces[Place]["at"];

/** The answer that a hook may give in a place. */
export type HookAnswer<Place extends HookPlace> = Readonly<HookPlaces[Place]["may"]>;

type Nothing = undefined | void;

/**
 * Code of yours that may change a run. Hooks with a higher `priority` (default 0) are asked first, hooks of the same priority in the order
 * of the list. Each hook sees the replacements of the hooks before it. The first hook that denies, answers or stops decides. The others are still asked,
 * and their answers are ignored. A hook that throws denies the call (`beforeToolCall`); elsewhere it fails the run with `hook-failed`.
 *
 * @example
 * ```ts
 * import { agent, type Hook } from "writ";
 *
 * const noNights: Hook = {
 *   name: "no-nights",
 *   beforeToolCall: ({ tool }) => (tool === "deploy" ? { deny: "nothing is deployed at night" } : undefined),
 * };
 *
 * export const operator = agent({ name: "operator", model: () => "done", hooks: [noNights] });
 * ```
 */
export type Hook = {
  readonly [Place in keyof HookPlaces]?: (
    at: HookInput<Place>,
  ) => HookAnswer<Place> | Nothing | Promise<HookAnswer<Place> | Nothing>;
} & {
  /** The name in events and errors. Default: its place in the list. */
  readonly name?: string;
  /** Hooks with a higher number are asked first. Default: 0. */
  readonly priority?: number;
};

/**
 * The fields that a hook may return, by place.
 *
 * @example
 * ```ts
 * import { hookFields } from "writ/doors";
 *
 * console.log(hookFields.beforeToolCall); // ["arguments", "deny", "result"]
 * ```
 */
export const hookFields: { readonly [Place in HookPlace]: readonly (keyof HookPlaces[Place]["may"])[] } = {
  beforeRun: ["input"],
  beforeSkill: ["skill", "deny"],
  beforeTurn: ["say", "answer", "deny"],
  beforeModel: ["messages", "settings", "toolChoice"],
  afterModel: ["message"],
  beforeToolCall: ["arguments", "deny", "result"],
  afterToolCall: ["result"],
  afterTurn: ["say", "stop"],
  onBudgetThreshold: [],
  onBudgetExceeded: ["extend", "checkpoint"],
  onError: ["retryAfterMs", "answer"],
  onStop: ["continue"],
  afterRun: ["output"],
};
