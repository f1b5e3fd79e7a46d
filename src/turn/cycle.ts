import type { Reading } from "../driver/driver.ts";
import { directJournal } from "../journal/direct-journal.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { isWordless, type ReplyMessage, runtimeMessage, textOf } from "../message/message.ts";
import { sizedReply } from "../message/file-part.ts";
import { addAnswer, addReply, addSaid } from "../message/transcript.ts";
import { learn } from "../policy/knowledge/learned.ts";
import type { ModelRecord } from "./ask-model.ts";
import { untilStopped } from "../util/interrupt.ts";
import { after, always, type Maybe } from "../util/maybe.ts";
import { act, skipAll } from "./act.ts";
import { askTurn, type TurnQuestion } from "./ask.ts";
import {
  afterTurn,
  answeredBefore,
  beforeTurn,
  compactRefused,
  compactTurn,
  mayGoOn,
  readAnswer,
  unacceptable,
  reserve,
  tellThresholds,
} from "./around-turn.ts";
import { authorStopped, type End, endBy, failed, stopped } from "../run/end.ts";
import { emptied, filtered } from "./ended-reply.ts";
import type { Finished, Frame } from "../run/frame.ts";
import { moreTime } from "../run/time.ts";
import type { LoopOptions } from "./options.ts";
import {
  beginRun,
  beginState,
  checkpointOf,
  keeping,
  type Run,
  type State,
  type NextState,
} from "./state.ts";
import { booked, driverOf, readingOf, repairsOf, seenBy, speakerOf, turnInput } from "./turn-input.ts";

/** The number of replies in a row that the driver cannot accept, before the run fails. */
const maxViolations = 4;

/**
 * The number of replies in a row that may be half a turn. A driver that asks on for ever must not keep a run
 * without bounds alive.
 */
const maxPending = 8;

/** The turn cycle, written once: asks the model, carries out its calls, asks again, until it answers or a bound is met. */
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
    frame.moreTime = moreTime(options, () => state.ledger.turns);
    if (from?.answer !== undefined) ({ state, end } = await answeredBefore(from.answer, state, run));
    while (end === undefined) {
      const turn = runTurn(state, run);
      ({ state, end } = turn instanceof Promise ? await turn : turn);
      if (end?.mayContinue === true && run.hooks.onStop !== undefined)
        ({ state, end } = await mayGoOn({ state, end }, run));
      if (options.onTurn !== undefined) await options.onTurn(checkpointOf(state, run, end));
    }
  } catch (error) {
    end = endBy(error, { gate: options.gate, stop: frame.stop });
  }
  const { transcript, usage, ledger, learned, acts } = state;
  const checkpoint = end.waits === true && run !== undefined ? checkpointOf(state, run, end) : undefined;
  return {
    end,
    transcript,
    usage,
    ledger,
    acts,
    allowed: options.gate.allowed,
    label: learned.label,
    ...(checkpoint === undefined ? {} : { checkpoint }),
  };
}

/** The time and the id of the run, as its journal keeps them from its beginning on. */
function beginning({ journal, host, from, gate, runId }: LoopOptions, { stop }: Frame): Maybe<RunStart> {
  const begun = { now: host.now(), runId };
  if (journal === directJournal) return begun;
  const key = from === undefined ? "start" : `resume/${from.ledger.turns}`;
  const { hash: intent } = gate.intent;
  // A record of another intent is of another run.
  const step = { key, fingerprint: () => intent, run: () => Promise.resolve({ ...begun, intent }) };
  return untilStopped(journal.step(step), stop).then((started) => {
    if (started === "stopped") throw new Error("the run was stopped before it began");
    return started;
  });
}

interface RunStart {
  readonly now: number;
  readonly runId: string;
}

/** One turn: one reply of the model, and the results of the calls in it. */
function runTurn(before: State, run: Run): Maybe<NextState> {
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
  return end !== undefined ? reserved : after(keeping(state, run, prepareTurn), preparedTurn, run);
}

function preparedTurn(ready: NextState, run: Run): Maybe<NextState> {
  if (ready.end !== undefined) return ready;
  const step = askAndAct(ready.state, run);
  return run.hooks.afterTurn === undefined ? step : after(step, closeTurn, run);
}

function closeTurn(step: NextState, run: Run): Maybe<NextState> {
  return step.end === undefined ? keeping(step.state, run, afterTurn) : step;
}

/**
 * Prepares a turn: tells thresholds, asks the author's hooks, and takes old turns out of what the model is
 * sent.
 */
function prepareTurn(before: State, run: Run): Maybe<NextState> {
  return after(after(tellThresholds(before, run), beforeTurn, run), compactTurn, run);
}

function askAndAct(state: State, run: Run): Maybe<NextState> {
  const asking: AskedTurn = { state, input: turnInput(state, run), early: { state, run }, run };
  return after(askTurn(asking, run), takeAsked, asking);
}

/** The question of a turn, and the calls that were started meanwhile. */
interface AskedTurn extends TurnQuestion {
  readonly run: Run;
}

function takeAsked(asked: ModelRecord | End, asking: AskedTurn): Maybe<NextState> {
  if ("outcome" in asked && isTooLong(asked, asking.run)) return askShorter(asked, asking);
  return asking.early.calls?.started === undefined ? take(asked, asking) : takeBegun(asked, asking);
}

/** The provider says that the request is too long, and the author wants old turns to go then. */
function isTooLong({ error }: End, { options }: Run): boolean {
  return options.compact !== undefined && isWritError(error, "context-exceeded");
}

/** Asks once more, with fewer turns; where none can go the run ends. */
async function askShorter(refused: End, { state: before, early, run }: AskedTurn): Promise<NextState> {
  await early.calls?.giveUp();
  const { state, end } = await keeping(before, run, compactRefused);
  if (end !== undefined) return { state, end };
  const asking: AskedTurn = { state, input: turnInput(state, run), early: { state, run }, run };
  if (state === before) return takeBegun(refused, asking);
  run.tell?.({ type: "retry-start", turn: state.ledger.turns, reason: refused.error?.message ?? "" });
  return takeBegun(await askTurn({ ...asking, isShorter: true }, run), asking);
}

/** What was started early ends with its turn. */
function takeBegun(asked: ModelRecord | End, asking: AskedTurn): Maybe<NextState> {
  return always(
    () => take(asked, asking),
    () => asking.early.calls?.giveUp(),
  );
}

function notAnswered(end: End, { state, run }: AskedTurn): NextState {
  const { turns: turn } = state.ledger;
  const driver = driverOf(state, run).name;
  run.tell?.({ type: "message-end", turn, finishReason: "error", driver, durationMs: 0 });
  return { state, end };
}

/** Does what a reply says: carries out its calls, takes its answer, or asks again. */
function take(record: ModelRecord | End, asking: AskedTurn): Maybe<NextState> {
  if ("outcome" in record) return notAnswered(record, asking);
  const { state: before, input, early, run } = asking;
  const { turns: turn } = before.ledger;
  const { finishReason, startedAt, endedAt } = record;
  const speaker = speakerOf(record.driver, run);
  const reading = readingOf(record, { driver: speaker, input, turn });
  const message = seenBy(reading.message, before.learned);
  // What stands in the transcript for a reply without words, the model did not write.
  const isVoid = reading.type === "violation" && isWordless(record.message);
  const learned =
    message.label === undefined ? before.learned : learn(before.learned, [message], before.gate.allowed);
  run.tell?.({
    type: "message-end",
    turn,
    message: sizedReply(isVoid ? seenBy(record.message, before.learned) : message),
    ...repairsOf(reading),
    finishReason,
    ...(record.response && { response: record.response }),
    driver: record.driver,
    durationMs: endedAt - startedAt,
  });
  const { ledger, usage } = booked(before, record, run);
  const state = {
    ...before,
    ledger,
    usage,
    learned,
    driver: Math.max(0, run.options.drivers.indexOf(speaker)),
    speaker,
    now: endedAt,
    elapsedMs: before.elapsedMs + Math.max(0, endedAt - startedAt),
    sent: before.transcript.length,
  };
  const isWhole = (reading.type === "final" || reading.type === "pending") && finishReason === "stop";
  if (run.endOn.includes(finishReason) && !isWhole)
    return stopOnReason(state, { message, finishReason }, run);
  if (finishReason === "content-filter")
    return filtered(state, { message, text: textOf(record.message) }, run);
  if (reading.type === "calls") return act({ state, message, early }, run);
  if (reading.type === "violation")
    return emptied(record, { state, input }, run) ?? askAgain(state, { ...reading, message }, run);
  if (reading.type === "pending") return askOn(state, message, run);
  return answer(state, { reading: { ...reading, message }, record }, run);
}

/** The author ends runs in which the model stops for this reason. Its calls do not run. */
function stopOnReason(
  state: State,
  reply: Pick<ModelRecord, "message" | "finishReason">,
  run: Run,
): NextState {
  const reason = `Finish reason "${reply.finishReason}" matched stop condition`;
  const end = authorStopped(run, reason);
  const added = addReply(state.transcript, reply.message);
  if (added.state === "open") return skipAll(state, { open: added, reason, end });
  return { state: { ...state, transcript: added }, end };
}

function askAgain(state: State, reading: Extract<Reading, { type: "violation" }>, run: Run): NextState {
  const { reason, feedback, message } = reading;
  const violations = state.violations + 1;
  const transcript = addSaid(addAnswer(state.transcript, message), runtimeMessage(feedback));
  const next = { ...state, transcript, violations };
  if (violations >= (driverOf(state, run).maxViolations ?? maxViolations))
    return violated(next, { count: violations, reason }, run);
  run.tell?.({ type: "retry-start", turn: state.ledger.turns, reason });
  return { state: next };
}

function violated(
  state: State,
  about: { readonly count: number; readonly reason: string },
  run: Run,
): NextState {
  const { name: driver } = driverOf(state, run);
  const error = new WritError("protocol-violated", { model: run.options.model.id, driver, ...about });
  return { state, end: { outcome: failed(error), error } };
}

/** The reply is half a turn. Violations are counted over it: a model that goes on choosing and never fills in would not end. */
function askOn(state: State, message: ReplyMessage, run: Run): NextState {
  const pending = state.pending + 1;
  const next = { ...state, pending, transcript: addAnswer(state.transcript, message) };
  if (pending < maxPending) return { state: next };
  return violated(next, { count: pending, reason: "its replies only began a turn, and none ended it" }, run);
}

interface Answered {
  readonly reading: Extract<Reading, { type: "final" }>;
  readonly record: ModelRecord;
}

function answer(state: State, { reading, record }: Answered, run: Run): Maybe<NextState> {
  const { content, message } = reading;
  const { finishReason } = record;
  const reply = { content, finishReason };
  return keeping(state, run, () =>
    after(readAnswer(reply, run), (read) => {
      if (!read.ok && record.answer === undefined)
        return askAgain(state, { type: "violation", message, ...read }, run);
      const next = { ...state, transcript: addAnswer(state.transcript, message) };
      if (!read.ok) {
        const end = unacceptable({ hook: record.answer?.by ?? "", place: "onError" }, read.reason);
        return { state: next, end };
      }
      const outcome = { type: "answered", ...reply } as const;
      return { state: next, end: { outcome, output: read.output, mayContinue: true } };
    }),
  );
}
