import { directJournal } from "../journal/direct-journal.ts";
import { isWritError } from "../error/writ-error.ts";
import { type ModelRecord, noFailures } from "./ask-model.ts";
import { untilStopped } from "../util/interrupt.ts";
import { after, always, type Maybe } from "../util/maybe.ts";
import { askTurn, type TurnQuestion, turnInput } from "./ask.ts";
import { afterTurn, answeredBefore, compactRefused, mayGoOn, prepareTurn } from "./around-turn.ts";
import {
  reserve,
  beginRun,
  beginState,
  checkIsLast,
  checkpointOf,
  keeping,
  type Run,
  type State,
  type NextState,
} from "./state.ts";
import { type End, endBy, stopped } from "../run/end.ts";
import type { Finished } from "../run/finished.ts";
import { beginningIn, type Frame, letOthers } from "../run/frame.ts";
import type { Intent } from "../policy/knowledge/intent.ts";
import { partsText } from "../journal/parts.ts";
import { moreTime } from "../run/bounds.ts";
import type { LoopOptions } from "./options.ts";
import { take } from "./reply.ts";

/** The turn cycle, written once: asks the model, carries out its calls, and asks again, until the model answers or a bound is met. */
export async function cycle(options: LoopOptions, frame: Frame): Promise<Finished> {
  const { from } = options;
  let state = beginState(options);
  let end: End | undefined;
  let run: Run | undefined;
  try {
    const begun = beginning(options, frame);
    const { now, runId } = begun instanceof Promise ? await begun : begun;
    run = beginRun(options, frame, { startedAt: now - (from?.elapsedMs ?? 0), runId });
    state = { ...state, now };
    frame.moreTime = moreTimeIn(options, () => state.ledger.turns);
    if (from?.answer !== undefined) ({ state, end } = await answeredBefore(from.answer, state, run));
    while (end === undefined) {
      const turn = runTurn(state, run);
      ({ state, end } = turn instanceof Promise ? await turn : turn);
      if (end?.mayContinue === true && run.hooks.onStop !== undefined)
        ({ state, end } = await mayGoOn({ state, end }, run));
      if (options.onTurn !== undefined) await options.onTurn(checkpointOf(state, run, end));
    }
    if (run.journal !== directJournal) checkIsLast(end, state.ledger.turns + 1, run);
  } catch (error) {
    end = endBy(error, { gate: options.gate, stop: frame.stop });
  }
  const { transcript, usage, ledger, learned, acts } = state;
  return {
    end,
    transcript,
    usage,
    ledger,
    acts,
    allowed: options.gate.allowed,
    label: learned.label,
    ...(end.waits === true && run !== undefined ? { checkpoint: checkpointOf(state, run, end) } : {}),
  };
}

/** The time and the id of the run, as its journal keeps them from the beginning. */
function beginning({ journal, host, from, gate, runId }: LoopOptions, { stop }: Frame): Maybe<RunStart> {
  const begun = { now: host.now(), runId };
  if (journal === directJournal) return begun;
  const key = from === undefined ? "start" : `resume/${from.ledger.turns}`;
  const { hash: intent } = gate.intent;
  const step = {
    key,
    fingerprint: () => intentText(gate.intent),
    run: () => Promise.resolve({ ...begun, intent, ...beginningIn(journal) }),
  };
  return untilStopped(journal.step(step), stop).then((started) => {
    if (started === "stopped") throw new Error("the run was stopped before it began");
    return started;
  });
}

/** The part of an intent that identifies a run's record. Bounds are not part of it: they hold only for what is still to come. */
function intentText({ text, constants, agent, skill, policy, tools }: Intent): string {
  return partsText({ text, constants: [...constants], agent, skill, policy, tools });
}

/** Asks the author's hooks for more time; without such hooks the run ends when its time is over. */
function moreTimeIn({ hooks, journal }: LoopOptions, turn: () => number): Frame["moreTime"] {
  const { onBudgetExceeded } = hooks;
  return onBudgetExceeded && moreTime(onBudgetExceeded, journal, turn);
}

interface RunStart {
  readonly now: number;
  readonly runId: string;
}

/** Turns after which timers have a chance, and whoever cancels the run: a model that is a function may have nothing to wait for. */
const turnsAtOnce = 128;

/** One turn: one reply of the model, and the results of the calls in it. */
function runTurn(before: State, run: Run): Maybe<NextState> {
  const { turns } = before.ledger;
  const isLong = turns > 0 && turns % turnsAtOnce === 0;
  return isLong ? letOthers(run.host).then(() => beginTurn(before, run)) : beginTurn(before, run);
}

function beginTurn(before: State, run: Run): Maybe<NextState> {
  if (run.stop.reason !== undefined) return { state: before, end: stopped(run, run.stop.reason) };
  return after(keeping(before, run, reserve), run.tell === undefined ? reservedTurn : watchedTurn, run);
}

function watchedTurn(reserved: NextState, run: Run): Maybe<NextState> {
  if (reserved.end !== undefined) return reserved;
  const { turns: turn } = reserved.state.ledger;
  run.tell?.({ type: "turn-start", turn });
  return always(
    () => reservedTurn(reserved, run),
    () => run.tell?.({ type: "turn-end", turn }),
  );
}

function reservedTurn(reserved: NextState, run: Run): Maybe<NextState> {
  const { state, end } = reserved;
  if (end !== undefined) return reserved;
  return run.preparesTurns
    ? after(keeping(state, run, prepareTurn), preparedTurn, run)
    : preparedTurn(reserved, run);
}

function preparedTurn(ready: NextState, run: Run): Maybe<NextState> {
  if (ready.end !== undefined) {
    checkIsLast(ready.end, ready.state.ledger.turns, run);
    return ready;
  }
  const step = askAndAct(ready.state, run);
  return run.hooks.afterTurn === undefined ? step : after(step, closeTurn, run);
}

function closeTurn(step: NextState, run: Run): Maybe<NextState> {
  return step.end === undefined ? keeping(step.state, run, afterTurn) : step;
}

function askAndAct(state: State, run: Run): Maybe<NextState> {
  const notes = noFailures();
  const asking: TurnQuestion = { state, input: turnInput(state, run), early: { state, run }, run, notes };
  return after(askTurn(asking), takeAsked, asking);
}

function takeAsked(asked: ModelRecord | End, asking: TurnQuestion): Maybe<NextState> {
  if ("outcome" in asked && isTooLong(asked, asking.run)) return askShorter(asked, asking);
  return asking.early.calls?.started === undefined ? take(asked, asking) : takeBegun(asked, asking);
}

/** True if the provider says that the request is too long, and the author has old turns taken out then. */
function isTooLong({ error }: End, { options }: Run): boolean {
  return options.compact !== undefined && isWritError(error, "context-exceeded");
}

/** Asks again with fewer turns; if none can go, the run ends. */
async function askShorter(
  refused: End,
  { state: before, early, run, notes: { usage } }: TurnQuestion,
): Promise<NextState> {
  await early.calls?.giveUp();
  const { state, end } = await keeping(before, run, compactRefused);
  const notes = { ...noFailures(), usage };
  const asking: TurnQuestion = { state, input: turnInput(state, run), early: { state, run }, run, notes };
  if (end !== undefined || state === before) return takeBegun(end ?? refused, asking);
  run.tell?.({ type: "retry-start", turn: state.ledger.turns, reason: refused.error?.message ?? "" });
  return takeBegun(await askTurn({ ...asking, isShorter: true }), asking);
}

/** Takes a reply; calls that were started early end with their turn. */
function takeBegun(asked: ModelRecord | End, asking: TurnQuestion): Maybe<NextState> {
  const { calls } = asking.early;
  return always(
    () => take(asked, asking),
    () => calls?.giveUp(),
  );
}
