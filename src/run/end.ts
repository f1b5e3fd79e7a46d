import type { ErrorCode } from "../error/codes.ts";
import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import type { FinishReason } from "../message/message.ts";
import { type Excess, tooLong } from "../policy/account/budget.ts";
import type { Interrupt } from "../util/interrupt.ts";
import { isJsonObject } from "../util/json.ts";
import { type OpenQuestion, RunWaits } from "./waits.ts";

/**
 * A cause for which an author ends a run, or a batch of it, that would go on by default.
 *
 * - `unknown-tool`: a call of a tool outside the allow-list. The calls before it in its reply run, those after it
 *   are skipped, and the run ends as `refused` (`tool-not-allowed`).
 * - `tool-failure`: a call that fails (`error`, `invalid`, `timeout`, `unknown`), unless its recovery told the
 *   model. Calls of the reply that have not begun are skipped, calls that have begun end by themselves, and the
 *   run ends as `failed` (`tool-failed`).
 * - `blocked-call`: a call that the allow-list, a rule, a hook or a person denied. The calls after it in its reply
 *   are skipped, which ends the batch. The run goes on, and the model is told.
 * - a reason for which the model stops writing, such as `length`: unless the reply is a whole answer (`stop`), its
 *   calls do not run, and the run ends as `cancelled`. `error` means a reply whose call the provider could not
 *   read: any other reply that ends with an error counts as a failed provider, and is requested again.
 */
export type EndCause = "unknown-tool" | "tool-failure" | "blocked-call" | FinishReason;

/** Each cause once: the checks of definitions and of files use this list. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `satisfies` holds the keys to the causes
export const endCauses = Object.keys({
  "unknown-tool": true,
  "tool-failure": true,
  "blocked-call": true,
  stop: true,
  length: true,
  "tool-calls": true,
  "content-filter": true,
  pause: true,
  error: true,
  other: true,
} satisfies Record<EndCause, true>) as readonly EndCause[];

/**
 * The reason for which a run was stopped from outside its own course.
 *
 * - `cancelled`: the caller or the run around it stopped it.
 * - `duration`: its time, of so many milliseconds, was over. `waits`: the author wants to go on later.
 * - `failed`: the author could not be asked about that.
 */
export type StopReason =
  | { readonly type: "cancelled"; readonly reason: string }
  | { readonly type: "duration"; readonly limit: number; readonly waits?: boolean }
  | { readonly type: "failed"; readonly cause: unknown };

/** The reason that stops a run whose call has ended before it. */
export const callEnded = { type: "cancelled", reason: "the call that it was part of has ended" } as const;

/** True if the reason for a stop is that the run around was cancelled. */
export function isCancelled(reason: unknown): boolean {
  return isJsonObject(reason) && reason["type"] === "cancelled";
}

/**
 * The end of a run.
 *
 * - `throws`: the world failed, and the generator throws after `run-end`.
 * - `mayContinue`: the author's hooks may say that it goes on.
 * - `waits`: the run can be resumed from its checkpoint.
 * - `questions`: the run goes on from its journal once these are answered; with an empty list it goes on at once, in another process.
 */
export interface End {
  readonly outcome: Outcome;
  readonly output?: unknown;
  readonly error?: WritError;
  readonly throws?: boolean;
  readonly mayContinue?: boolean;
  readonly waits?: boolean;
  readonly questions?: readonly OpenQuestion[];
}

/** The agent whose name the end of a run carries. */
export interface Ending {
  readonly gate: { readonly agent: string };
}

/** The error of a run whose world failed, as one of the catalogue. */
export function worldError(cause: unknown, name: string): WritError {
  if (isWritError(cause)) return cause;
  return new WritError("run-broken", { name, reason: messageOf(cause) }, { cause });
}

/** The end when a bound was met. */
export function exhausted({ gate }: Ending, excess: Excess): End {
  const { message: reason, field, account } = excess;
  const code = account === undefined ? "budget-exhausted" : "account-exhausted";
  const error = new WritError(code, { name: gate.agent, reason, field }, { cause: excess });
  return { outcome: { type: "exhausted", ...excess }, error };
}

/** The bound by which a run ended, taken from the cause of its error. */
export function excessOf({ cause, data }: WritError<"budget-exhausted" | "account-exhausted">): Excess {
  if (isExcess(cause)) {
    const { field, limit, used, message, account } = cause;
    return { field, limit, used, message, ...(typeof account === "string" && { account }) };
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runtime puts a bound of the budget into `field`
  return { field: String(data.field) as Excess["field"], limit: 0, used: 0, message: String(data.reason) };
}

/** Anybody can have made the cause, so only the fields of a bound are taken from it. */
function isExcess(cause: unknown): cause is Excess {
  if (!isJsonObject(cause)) return false;
  const { field, limit, used, message } = cause;
  return [field, message].every(isText) && [limit, used].every((each) => typeof each === "number");
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** The end when a bound was met and the author wants to go on later. */
export function suspended({ gate }: Ending, excess: Excess): End {
  const { message: reason, field } = excess;
  const error = new WritError("run-suspended", { name: gate.agent, reason, field }, { cause: excess });
  return { outcome: { type: "suspended", ...excess }, error, waits: true };
}

/** The end when the author ended the run: by a hook, or by a finish reason in `endOn`. */
export function authorStopped({ gate }: Ending, reason: string): End {
  const error = new WritError("run-cancelled", { name: gate.agent, reason });
  return { outcome: { type: "cancelled", reason }, error, mayContinue: true };
}

/** The end when a hook refused the run. */
export function refusedBy({ gate }: Ending, reason: string): End {
  const error = new WritError("run-refused", { name: gate.agent, reason });
  return { outcome: { type: "refused", code: error.code, message: error.message }, error };
}

/** Errors of the author's own code. */
const ownFaults: ReadonlySet<ErrorCode> = new Set(["hook-failed", "hook-field-forbidden", "driver-failed"]);

/** The error of a run that waits for answers, or of calls outside of a run that do. */
export function waitingError({ questions, isHandedOver }: RunWaits, name: string): WritError {
  if (isHandedOver) return new WritError("run-handed-over", { name });
  const tools = questions.map(({ request }) => request.tool).join(", ");
  return new WritError("run-waiting", { name, count: questions.length, tools });
}

/** The questions that the run with this outcome waits for. */
export function waitsOf(questions: readonly OpenQuestion[], outcome: Outcome): RunWaits {
  return new RunWaits(questions, outcome.type === "suspended" && outcome.field === "handover");
}

/** The end of a run that goes on from its journal: once its questions are answered, or at once in another process. */
function waiting(waits: RunWaits, name: string): End {
  const error = waitingError(waits, name);
  const { questions, isHandedOver } = waits;
  const field = isHandedOver ? "handover" : "answers";
  const { message } = error;
  return {
    outcome: { type: "suspended", field, limit: 0, used: questions.length, message },
    error,
    questions,
  };
}

/** The end for a thrown error: the author's own code fails the run, the world breaks it. */
export function thrownEnd(cause: unknown, name: string): End {
  if (cause instanceof RunWaits) return waiting(cause, name);
  if (isWritError(cause) && ownFaults.has(cause.code)) return { outcome: failed(cause), error: cause };
  if (isWritError(cause, "account-exhausted")) return exhausted({ gate: { agent: name } }, excessOf(cause));
  const error = worldError(cause, name);
  return { outcome: failed(error), error, throws: true };
}

/** The end for an error thrown in a run: if the run was stopped, the stop is the reason. */
export function endBy(cause: unknown, run: Ending & { readonly stop: Interrupt<StopReason> }): End {
  const { reason } = run.stop;
  return reason === undefined ? thrownEnd(cause, run.gate.agent) : stopped(run, reason);
}

/** True if a thrown error ends the run: it is not retried, and the run does not go on elsewhere. */
export function endsRun(cause: unknown, { stop }: { readonly stop: Interrupt<unknown> }): boolean {
  const { reason } = stop;
  const failed = isJsonObject(reason) && reason["type"] === "failed" ? reason["cause"] : undefined;
  if (reason !== undefined && failed === undefined) return true;
  return thrownEnd(failed ?? cause, "").throws !== true;
}

/** The end when the run was stopped from outside, or because its time was over. */
export function stopped(run: Ending, reason: StopReason): End {
  if (reason.type === "failed") return thrownEnd(reason.cause, run.gate.agent);
  if (reason.type === "duration") {
    const { excess } = tooLong({ durationMs: reason.limit }, reason.limit);
    return reason.waits === true ? suspended(run, excess) : exhausted(run, excess);
  }
  const error = new WritError("run-cancelled", { name: run.gate.agent, reason: reason.reason });
  return { outcome: { type: "cancelled", reason: reason.reason }, error };
}

/** The outcome of a failure. */
export function failed(error: WritError): Outcome {
  return { type: "failed", code: error.code, message: error.message };
}
