import { messageOf, WritError } from "../../error/writ-error.ts";
import type { Outcome } from "../../event/outcome.ts";
import { fatalOf } from "../../call/call.ts";
import { exhausted, failed, type End, type StopReason } from "../../run/end.ts";
import type { OpenScope } from "../../run/scope.ts";
import { RunWaits } from "../../run/waits.ts";
import type { CallScope } from "../../tool/call-scope.ts";
import { type Interrupt, untilStopped } from "../../util/interrupt.ts";
import type { Maybe } from "../../util/maybe.ts";
import { closePlace, type CompositeRun, type Job, type Ran } from "./composite-run.ts";
import type { Member } from "./members.ts";

/**
 * The second argument of an author's function in a composition. Passed as options to an agent's run, it makes
 * that a run inside the composition.
 */
export interface RunInside {
  readonly parent: CallScope;
  /** Aborted when the composition is cancelled. */
  readonly signal: AbortSignal;
}

/** Ends a composition without an answer. */
export class Unanswered extends Error {
  readonly end: End;

  constructor(end: End) {
    super(end.error?.message ?? end.outcome.type);
    this.end = end;
  }
}

/** The end for an error of the catalogue. */
export function unanswered(error: WritError): Unanswered {
  return new Unanswered({ outcome: failed(error), error });
}

/** Runs a member and returns its output. @throws Unanswered if it does not answer; the error that its run throws */
export async function runMember(job: Job, run: CompositeRun): Promise<unknown> {
  throwIfStopped(run.stop);
  const ran = await countedIfLeft(run, () => run.perform(job, run.stop));
  run.book(job.place, ran.inside);
  if (ran.lost !== undefined) throw ran.lost.error;
  return outputOf(ran, job, run.name);
}

/** Counts what happened in a place that waits: it is told when the run goes on. */
async function countedIfLeft<Value>(run: CompositeRun, ending: () => Maybe<Value>): Promise<Value> {
  try {
    return await ending();
  } catch (error) {
    if (error instanceof RunWaits) error.inside.forEach((inside) => run.count(inside));
    throw error;
  }
}

/** Closes a place, and books what happened there. @throws RunWaits; the error of a journal that failed inside */
async function bookClosed(opened: OpenScope, place: string, run: CompositeRun): Promise<void> {
  const { inside, lost } = await countedIfLeft(run, () => closePlace(opened));
  run.book(place, inside);
  if (lost !== undefined) throw lost.error;
}

/** A question to the author's code. */
export interface AuthorQuestion<Value> {
  readonly place: string;
  /** The name of the function in the definition. */
  readonly name: string;
  readonly ask: (inside: RunInside) => Value | Promise<Value>;
}

/** Asks the author's code, which may run agents. @throws Unanswered if it fails */
export async function askAuthor<Value>(
  { place, name, ask }: AuthorQuestion<Value>,
  run: CompositeRun,
): Promise<Value> {
  const { stop } = run;
  throwIfStopped(stop);
  const opened = run.open(place, stop);
  try {
    const value = await untilStopped((async () => ask({ parent: opened.run, signal: stop.signal }))(), stop);
    throwIfStopped(stop);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was not stopped
    return value as Value;
  } catch (error) {
    throw authorFailed(error, { name: run.name, function: name });
  } finally {
    await bookClosed(opened, place, run);
  }
}

/** Throws the reason of a stop: a stopped composition ends by that, whatever else was thrown. */
export function throwIfStopped({ reason }: Interrupt<StopReason>): void {
  if (reason !== undefined) throw new Error("the composition was stopped");
}

/** A member that did not answer. */
export interface Failure {
  readonly outcome: Outcome;
  readonly reason: string;
  readonly cause?: WritError;
}

/** The output of a member that answered. @throws Unanswered, and what its run threw */
export function outputOf(ran: Ran, job: Job, name: string): unknown {
  if (ran.result?.outcome.type === "answered") return ran.result.output;
  throw stageFailed(job, failureOf(ran), name);
}

/** The end of a member that did not answer. @throws the error that its run threw */
export function failureOf({ result, thrown }: Ran): Failure {
  if (thrown !== undefined) throw thrown.error;
  if (result === undefined) throw new TypeError("the run of a member never began");
  const { outcome, error } = result;
  return { outcome, reason: error?.message ?? outcome.type, cause: error };
}

/**
 * The end of a composition whose member did not answer. A member cannot be resumed alone, so its wait is an end.
 */
export function stageFailed(
  { member, place }: { readonly member: Pick<Member, "name">; readonly place: string },
  { outcome, reason, cause }: Failure,
  name: string,
): Unanswered {
  const error = new WritError(
    "stage-failed",
    { name, stage: member.name, place, reason },
    { cause, retryable: cause?.retryable },
  );
  return new Unanswered({
    outcome:
      outcome.type === "suspended" && outcome.field !== "answers" && outcome.field !== "handover"
        ? { ...outcome, field: outcome.field, type: "exhausted" }
        : outcome,
    error,
  });
}

/**
 * The end of a composition whose author's code failed. A budget that was met in a run inside ends it as
 * exhausted.
 */
function authorFailed(
  cause: unknown,
  data: { readonly name: string; readonly function: string },
): Unanswered {
  const fatal = fatalOf(cause);
  if (fatal?.type === "exhausted")
    return new Unanswered(exhausted({ gate: { agent: data.name } }, fatal.excess));
  return unanswered(new WritError("function-failed", { ...data, reason: messageOf(cause) }, { cause }));
}
