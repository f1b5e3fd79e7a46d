import { WritError } from "../error/writ-error.ts";
import { consult, tellHooks } from "../hook/consult.ts";
import { type FinishReason, runtimeMessage } from "../message/message.ts";
import { addAnswer, addSaid } from "../message/transcript.ts";
import {
  type BudgetField,
  crossed,
  type Excess,
  reserveTurn,
  type Threshold,
} from "../policy/account/budget.ts";
import { effectIn } from "../policy/allow-list.ts";
import { meetBound, type Met, metBy } from "../run/bounds.ts";
import type { Checkpoint } from "../run/checkpoint.ts";
import { authorStopped, type End, exhausted, failed, refusedBy, suspended } from "../run/end.ts";
import { untilStopped } from "../util/interrupt.ts";
import type { Json } from "../util/json.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { replyOf } from "./around-model.ts";
import type { ReadAnswer } from "./options.ts";
import { keeping, type NextState, type Run, type State } from "./state.ts";

/** Asks the author's hooks before a turn: they may say something to the model, answer in its place, or refuse the run. */
export function beforeTurn(state: State, run: Run): Maybe<NextState> {
  return run.hooks.beforeTurn === undefined ? { state } : askedBeforeTurn(state, run);
}

async function askedBeforeTurn(state: State, run: Run): Promise<NextState> {
  const { turns: turn } = state.ledger;
  const at = { turn, transcript: state.transcript };
  const { say, answer, deny } = await consult(run, { place: "beforeTurn", at, turn });
  const heard = say === undefined ? state : saying(state, say);
  if (deny !== undefined) return { state: heard, end: refusedBy(run, deny) };
  return answer === undefined ? { state: heard } : answering(heard, answer, run);
}

async function answering(state: State, content: Json, run: Run): Promise<NextState> {
  const transcript = addAnswer(state.transcript, replyOf(content));
  const next = { ...state, transcript };
  const read = await readAnswer({ content, finishReason: "stop" }, run);
  const outcome = { type: "answered", content, finishReason: "stop" } as const;
  if (read.ok) return { state: next, end: { outcome, output: read.output } };
  return { state: next, end: unacceptable({ hook: "beforeTurn", place: "beforeTurn" }, read.reason) };
}

/** The end when what a hook answered in place of the model is not what the run must give. */
export function unacceptable(about: { readonly hook: string; readonly place: string }, reason: string): End {
  const error = new WritError("hook-failed", { ...about, reason: `its answer was not accepted: ${reason}` });
  return { outcome: failed(error), error };
}

/** Reads an answer as the author wants it. A schema can be slow: a run that is stopped does not wait for it. */
export function readAnswer(
  { content, finishReason }: { readonly content: Json; readonly finishReason: FinishReason },
  run: Run,
): Maybe<ReadAnswer> {
  return after(untilStopped(run.options.readAnswer(content, finishReason), run.stop), (read) => {
    if (read === "stopped") throw new Error("the run was stopped while its answer was read");
    return read;
  });
}

/** A run that has answered before answers the same again; where the author wants another answer by now, the model is told so. */
export async function answeredBefore(
  answer: NonNullable<Checkpoint["answer"]>,
  state: State,
  run: Run,
): Promise<NextState> {
  const { content, finishReason } = answer;
  const read = await readAnswer(answer, run);
  if (!read.ok) return { state: saying(state, read.feedback) };
  return { state, end: { outcome: { type: "answered", content, finishReason }, output: read.output } };
}

/** Asks the author's hooks after a turn that was not the last: they may say something to the model, or stop the run. */
export async function afterTurn(state: State, run: Run): Promise<NextState> {
  if (run.hooks.afterTurn === undefined) return { state };
  const { turns: turn } = state.ledger;
  const at = { turn, transcript: state.transcript, usage: state.usage };
  const { say, stop } = await consult(run, { place: "afterTurn", at, turn });
  const heard = say === undefined ? state : saying(state, say);
  return stop === undefined ? { state: heard } : { state: heard, end: authorStopped(run, stop) };
}

/** Asks the author's hooks whether a run that would end goes on. */
export function mayGoOn(
  { state, end }: { readonly state: State; readonly end: End },
  run: Run,
): Maybe<NextState> {
  if (run.hooks.onStop === undefined) return { state, end };
  const { turns: turn } = state.ledger;
  return keeping(state, run, async () => {
    const answer = await consult(run, { place: "onStop", at: { turn, outcome: end.outcome }, turn });
    return answer.continue === undefined ? { state, end } : { state: saying(state, answer.continue) };
  });
}

/** No provider takes an empty message. */
function saying(state: State, text: string): State {
  if (text.trim() === "") return state;
  return { ...state, transcript: addSaid(state.transcript, runtimeMessage(text)) };
}

/** Takes old turns out of what the model is sent, when there are too many of them. */
export function compactTurn(ready: NextState, run: Run): Maybe<NextState> {
  const { state, end } = ready;
  if (run.options.compact === undefined || end !== undefined) return ready;
  return compacted(state, run, { isRefused: false });
}

/** Takes old turns out when the provider says that there are too many of them; the state as it is when nothing can go. */
export function compactRefused(state: State, run: Run): Promise<NextState> {
  return compacted(state, run, { isRefused: true });
}

async function compacted(
  state: State,
  run: Run,
  { isRefused }: { readonly isRefused: boolean },
): Promise<NextState> {
  const { turns: turn } = state.ledger;
  const key = `turn/${turn}/summary${isRefused ? "/again" : ""}`;
  const compacting = run.options.compact?.(state.transcript, (ask) => run.journal.step({ key, run: ask }), {
    acts: state.acts,
    effectOf: effectIn(run.gate.allowed),
    isRefused,
  });
  const done = compacting === undefined ? undefined : await untilStopped(compacting, run.stop);
  if (done === "stopped") throw new Error("the run was stopped while it was compacted");
  if (done === undefined) return { state };
  const { transcript, droppedTurns, tokensBefore, tokensAfter, acts } = done;
  run.tell?.({ type: "compaction-end", turn, droppedTurns, tokensBefore, tokensAfter });
  return { state: { ...state, transcript, acts, sent: 0 } };
}

/** Reserves one model call. When a bound forbids it, the author may raise it, or have the run wait; else it ends. */
export function reserve(state: State, run: Run): NextState | Promise<NextState> {
  const outer = run.options.parent?.purse.turnExcess();
  if (outer !== undefined) return { state, end: exhausted(run, outer) };
  const { limits } = state;
  const reservation = reserveTurn(state.ledger, limits, state.elapsedMs);
  if (reservation.ok) {
    const reserved = { ...state, ledger: reservation.ledger };
    run.purse.begin(reserved);
    return { state: reserved };
  }
  return reserveMore(reservation.excess, state, run);
}

async function reserveMore(excess: Excess<BudgetField>, state: State, run: Run): Promise<NextState> {
  const met = await meet(excess, state, run);
  if (met.type === "checkpoint") return { state, end: suspended(run, excess) };
  if (met.type === "stop") return { state, end: exhausted(run, excess) };
  return reserve({ ...state, limits: met.limits }, run);
}

async function meet(excess: Excess<BudgetField>, { limits, ledger }: State, run: Run): Promise<Met> {
  const { turns: turn } = ledger;
  if (excess.field !== "durationMs") return meetBound(excess, { limits, turn, part: "turn" }, run);
  const asking = run.frame.moreTime?.(limits.durationMs);
  if (asking === undefined) return { type: "stop" };
  const outcome = await untilStopped(asking, run.stop);
  if (outcome === "stopped") throw new Error("the run was stopped while a hook was asked");
  tellHooks({ turn, place: "onBudgetExceeded", by: outcome.by }, run);
  return metBy(outcome.answer, { field: "durationMs", limits, turn }, run);
}

/** Tells which bounds are nearly used up: each once, and again when it was raised since. */
export function tellThresholds(state: State, run: Run): State | Promise<State> {
  if (run.tell === undefined && run.hooks.onBudgetThreshold === undefined) return state;
  const { limits, warned } = state;
  const all = crossed(state, limits, run.options.warnAt);
  const fresh = all.filter(({ field, limit }) => warned[field] !== limit);
  return fresh.length === 0 ? state : warn(fresh, state, run);
}

async function warn(fresh: readonly Threshold[], state: State, run: Run): Promise<State> {
  const { turns: turn } = state.ledger;
  for (const threshold of fresh) {
    run.tell?.({ type: "budget-threshold", turn, ...threshold });
    const at = { turn, ...threshold };
    await consult(run, { place: "onBudgetThreshold", at, turn, part: threshold.field });
  }
  return {
    ...state,
    warned: { ...state.warned, ...Object.fromEntries(fresh.map(({ field, limit }) => [field, limit])) },
  };
}
