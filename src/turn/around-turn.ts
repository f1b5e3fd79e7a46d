import { runtimeMessage } from "../message/message.ts";
import { addAnswer, addSaid } from "../message/transcript.ts";
import { untilStopped } from "../util/interrupt.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { readAnswer, unacceptable } from "./reply.ts";
import { authorStopped, type End, refusedBy } from "../run/end.ts";
import { keeping, type Run, type State, type NextState } from "./state.ts";
import { consult, consultNamed, isConsulted } from "../hook/consult.ts";
import { crossed, type Threshold } from "../policy/account/budget.ts";
import { effectIn } from "../policy/allow-list.ts";
import type { Checkpoint } from "../run/checkpoint.ts";
import type { Json } from "../util/json.ts";
import { replyOf } from "./around-model.ts";

/**
 * Prepares a turn: tells thresholds, asks the author's hooks, and takes old turns out of what is sent to the
 * model.
 */
export function prepareTurn(before: State, run: Run): Maybe<NextState> {
  return after(after(tellThresholds(before, run), beforeTurn, run), compactTurn, run);
}

/** Asks the author's hooks before a turn: they may add a message for the model, answer in its place, or refuse the run. */
function beforeTurn(state: State, run: Run): Maybe<NextState> {
  const question = { place: "beforeTurn", turn: state.ledger.turns } as const;
  return isConsulted(question, run) ? askedBeforeTurn(state, run) : { state };
}

async function askedBeforeTurn(state: State, run: Run): Promise<NextState> {
  const { turns: turn } = state.ledger;
  const at = { turn, transcript: state.transcript };
  const { answer: given, by } = await consultNamed(run, { place: "beforeTurn", at, turn });
  const { say, answer, deny } = given;
  const heard = say === undefined ? state : saying(state, say);
  if (deny !== undefined) return { state: heard, end: refusedBy(run, deny) };
  return answer === undefined
    ? { state: heard }
    : answering(heard, { content: answer, by: by["answer"] }, run);
}

interface HookWords {
  readonly content: Json;
  /** The hook that gave them. */
  readonly by: string | undefined;
}

async function answering(state: State, { content, by = "" }: HookWords, run: Run): Promise<NextState> {
  const transcript = addAnswer(state.transcript, replyOf(content));
  const next = { ...state, transcript };
  const read = await readAnswer({ content, finishReason: "stop" }, run);
  const outcome = { type: "answered", content, finishReason: "stop" } as const;
  if (read.ok) return { state: next, end: { outcome, output: read.output } };
  return { state: next, end: unacceptable({ hook: by, place: "beforeTurn" }, read.reason) };
}

/** The end of a run that has answered before: the same answer again, or, if the author no longer accepts it, another turn in which the model is told so. */
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

/** Asks the author's hooks after a turn that was not the last: they may add a message for the model, or stop the run. */
export function afterTurn(state: State, run: Run): Maybe<NextState> {
  const question = { place: "afterTurn", turn: state.ledger.turns } as const;
  return isConsulted(question, run) ? askedAfterTurn(state, run) : { state };
}

async function askedAfterTurn(state: State, run: Run): Promise<NextState> {
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

/** The state with a message of the author, unless the text is empty: no provider takes an empty message. */
function saying(state: State, text: string): State {
  if (text.trim() === "") return state;
  return { ...state, transcript: addSaid(state.transcript, runtimeMessage(text)) };
}

/** Takes old turns out of what is sent to the model when there are too many. */
function compactTurn(ready: NextState, run: Run): Maybe<NextState> {
  const { state, end } = ready;
  if (run.options.compact === undefined || end !== undefined) return ready;
  return compacted(state, run, { isRefused: false });
}

/** Takes old turns out when the provider says that there are too many; returns the same state if nothing can go. */
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
    waits: (atTokens) => warnOfRoom(atTokens, run),
  });
  const done = compacting === undefined ? undefined : await untilStopped(compacting, run.stop);
  if (done === "stopped") throw new Error("the run was stopped while it was compacted");
  if (done === undefined) return { state };
  const { transcript, droppedTurns, tokensBefore, tokensAfter, acts } = done;
  run.tell?.({ type: "compaction-end", turn, droppedTurns, tokensBefore, tokensAfter });
  return { state: { ...state, transcript, acts, sent: 0 } };
}

/** Warns the author that there is too little for the compaction to take out. */
function warnOfRoom(atTokens: number, { gate, host }: Run): void {
  const text = `The compaction of agent "${gate.agent}" waits with its summary: what has to stay leaves too little of \`atTokens\` (${atTokens}), so that requests have more. Raise it, or keep less: instructions, \`keepTurns\`, results (\`resultBytes\`).`;
  host.warn?.({ code: "WRIT_COMPACTION_WAITS", text, isDeprecation: false });
}

/** Tells which bounds are nearly used up: each bound once, and again after it was raised. */
function tellThresholds(state: State, run: Run): State | Promise<State> {
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
