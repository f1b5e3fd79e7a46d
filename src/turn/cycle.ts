import type { Reading } from "../driver/driver.ts";
import { WritError } from "../error/writ-error.ts";
import { execute, type Executed } from "../call/batch.ts";
import { applyMode } from "../run/gate.ts";
import { type EarlyCall, lostResult } from "../call/call.ts";
import {
  callsOf,
  type ReplyMessage,
  textOf,
  type ToolCall,
  type ToolResult,
  runtimeMessage,
} from "../message/message.ts";
import {
  addReply,
  addUser,
  type OpenTranscript,
  type ReadyTranscript,
  settleAll,
} from "../message/transcript.ts";
import { addUsage } from "../message/usage.ts";
import { spendInside } from "../policy/budget.ts";
import { learn } from "../policy/learned.ts";
import type { ModelRecord } from "./ask-model.ts";
import { untilStopped } from "../util/interrupt.ts";
import { askTurn } from "./ask.ts";
import { afterTurn, answeredBefore, beforeTurn, mayGoOn, readAnswer, unacceptable } from "./around-turn.ts";
import { beforeEffects } from "./before-effects.ts";
import { booked, repairsOf } from "./booked.ts";
import { circleOf, type Circle, rememberAct } from "./circles.ts";
import { compactTurn } from "./compact-turn.ts";
import { authorStopped, endBy, exhausted, failed, stopped } from "../run/end.ts";
import { giveUpEarly } from "./early.ts";
import { endOfBatch } from "./end-of-batch.ts";
import type { Finished, Frame } from "../run/frame.ts";
import { moreTime } from "../run/more-time.ts";
import type { End } from "../run/end.ts";
import type { LoopOptions } from "./options.ts";
import { reserve, tellThresholds } from "./reserve.ts";
import { beginRun, beginState, checkpointOf, keeping, type Run, type State, type Step } from "./state.ts";
import { seenBy } from "./seen-by.ts";
import { driverOf, readingOf, speakerOf, turnInput } from "./turn-input.ts";

/** How often in a row a model may send a reply that the driver cannot accept, before the run fails. */
const maxViolations = 4;

/** How often in a row a reply may be half a turn: a driver that asks on for ever must not keep a run without bounds alive. */
const maxPending = 8;

/** The turn cycle, written once: asks the model, carries out its calls, asks again, until it answers or a bound is met. */
export async function cycle(options: LoopOptions, inside: Frame): Promise<Finished> {
  const { journal, host, from } = options;
  let state = beginState(options);
  let end: End | undefined;
  let run: Run | undefined;
  try {
    const key = from === undefined ? "start" : `resume/${from.ledger.turns}`;
    const { hash: intent } = options.gate.intent;
    const begun = { now: host.now(), runId: options.runId, intent };
    const fingerprint = (): string => intent; // a record of another intent is of another run
    const started = await untilStopped(
      journal.step({ key, fingerprint, run: () => Promise.resolve(begun) }),
      inside.stop,
    );
    if (started === "stopped") throw new Error("the run was stopped before it began");
    const { now, runId } = started;
    run = beginRun(options, inside, { startedAt: now - (from?.elapsedMs ?? 0), runId });
    state = { ...state, now };
    inside.moreTime = moreTime(options, () => state.ledger.turns);
    if (from?.answer !== undefined) ({ state, end } = await answeredBefore(from.answer, state, run));
    while (end === undefined) {
      ({ state, end } = await runTurn(state, run));
      if (end?.mayContinue === true) ({ state, end } = await mayGoOn({ state, end }, run));
      if (options.onTurn !== undefined) await options.onTurn(checkpointOf(state, run, end));
    }
  } catch (error) {
    end = endBy(error, { gate: options.gate, stop: inside.stop });
  }
  const { transcript, usage, ledger, learned, acts } = state;
  const checkpoint = end.waits === true && run !== undefined ? checkpointOf(state, run, end) : undefined;
  return {
    end,
    transcript,
    usage,
    ledger,
    acts,
    label: learned.label,
    ...(checkpoint === undefined ? {} : { checkpoint }),
  };
}

/** One turn: one reply of the model, and the results of the calls in it. */
async function runTurn(before: State, run: Run): Promise<Step> {
  if (run.stop.reason !== undefined) return { state: before, end: stopped(run, run.stop.reason) };
  const reserving = keeping(before, run, () => reserve(before, run));
  const reserved = reserving instanceof Promise ? await reserving : reserving;
  if (reserved.end !== undefined) return reserved;
  const { turns: turn } = reserved.state.ledger;
  run.tell?.({ type: "turn-start", turn });
  try {
    const ready = hasPreparation(run)
      ? await keeping(reserved.state, run, () => prepareTurn(reserved.state, run))
      : reserved;
    if (ready.end !== undefined) return ready;
    const step = await askAndAct(ready.state, run);
    if (step.end !== undefined || run.hooks.afterTurn === undefined) return step;
    return await keeping(step.state, run, () => afterTurn(step.state, run));
  } finally {
    run.tell?.({ type: "turn-end", turn });
  }
}

function hasPreparation({ tell, hooks, compact }: Run): boolean {
  return (
    tell !== undefined ||
    compact !== undefined ||
    hooks.beforeTurn !== undefined ||
    hooks.onBudgetThreshold !== undefined
  );
}

/** What comes before the model is asked. */
async function prepareTurn(state: State, run: Run): Promise<Step> {
  const ready = await beforeTurn(await tellThresholds(state, run), run);
  return ready.end === undefined ? { state: await compactTurn(ready.state, run) } : ready;
}

async function askAndAct(before: State, run: Run): Promise<Step> {
  const early = new Map<string, EarlyCall>();
  try {
    const { turns: turn } = before.ledger;
    const input = turnInput(before, run);
    const asked = await askTurn({ state: before, input, early }, run);
    if ("outcome" in asked) {
      const driver = driverOf(before, run).name;
      run.tell?.({ type: "message-end", turn, finishReason: "error", driver, durationMs: 0 });
      return { state: before, end: asked };
    }
    const speaker = speakerOf(asked.driver, run);
    const reading = readingOf(asked, { driver: speaker, input, turn });
    const message = seenBy(reading.message, before.learned);
    const learned =
      message.label === undefined ? before.learned : learn(before.learned, [message], before.gate.allowed);
    run.tell?.({
      type: "message-end",
      turn,
      message,
      ...repairsOf(reading),
      finishReason: asked.finishReason,
      driver: asked.driver,
      durationMs: asked.endedAt - asked.startedAt,
    });
    const state = {
      ...before,
      ...booked(before, asked, run),
      learned,
      driver: Math.max(0, run.drivers.indexOf(speaker)),
      speaker,
      now: asked.endedAt,
      sent: before.transcript.length,
    };
    const isWhole = (reading.type === "final" || reading.type === "pending") && asked.finishReason === "stop";
    if (run.stopOn.includes(asked.finishReason) && !isWhole)
      return stopOnReason(state, { message, finishReason: asked.finishReason }, run);
    if (asked.finishReason === "content-filter") return filtered(state, message, run);
    if (reading.type === "calls") return await act({ state, message, early }, run);
    if (reading.type === "violation") return askAgain(state, { ...reading, message }, run);
    if (reading.type === "pending") return askOn(state, message, run);
    return await keeping(state, run, () =>
      answer(state, { reading: { ...reading, message }, record: asked }, run),
    );
  } finally {
    if (early.size > 0) await giveUpEarly(early);
  }
}

interface Acting {
  readonly state: State;
  readonly message: ReplyMessage;
  readonly early: ReadonlyMap<string, EarlyCall>;
}

async function act({ state, message, early }: Acting, run: Run): Promise<Step> {
  const { turns: turn } = state.ledger;
  const { gate, transcript, learned } = state;
  const open = addReply(transcript, message) as OpenTranscript;
  const calls = callsOf(message);
  const circle = circleOf(state, calls);
  if (circle.type === "end")
    return skipAll(state, { open, reason: circle.excess.message, end: exhausted(run, circle.excess) });
  const refuse = circle.type === "refuse" ? circle.reason : undefined;
  const end = run.beforeEffect === undefined ? undefined : await beforeEffects(calls, run);
  if (end !== undefined) return skipAll(state, { open, reason: "the run had to end before it", end });
  try {
    const executed = await execute({ ...state, run, turn, calls, early, refuse });
    return settleCalls(state, { open, calls, executed, circle }, run);
  } catch (error) {
    const result = {
      status: "unknown",
      text: "Not known: the run ended while the call was carried out.",
    } as const;
    const settled = settleAll(open, () => result);
    const after = learn(learned, settled.since(transcript.length), gate.allowed);
    return { state: { ...state, transcript: settled, learned: after }, end: endBy(error, run) };
  }
}

interface Skipping {
  readonly open: OpenTranscript;
  readonly reason: string;
  readonly end: End;
}

function skipAll(state: State, { open, reason, end }: Skipping): Step {
  const transcript = settleAll(open, () => ({ status: "skipped", text: `Not run: ${reason}.` }));
  return { state: { ...state, transcript, violations: 0, pending: 0 }, end };
}

interface Carried {
  readonly open: OpenTranscript;
  readonly calls: readonly ToolCall[];
  readonly executed: Executed;
  readonly circle: Circle;
}

/** Gives the calls their results, and books what they changed. */
function settleCalls(state: State, { open, calls, executed, circle }: Carried, run: Run): Step {
  const { results, repeats } = rememberAct(state, { calls, results: executed.results }, circle);
  const next = results.values();
  const transcript = settleAll(open, (): ToolResult => next.next().value ?? lostResult);
  const inside = executed.inside.map(({ spending }) => spending);
  const settled: State = {
    ...state,
    transcript,
    repeats,
    ledger: inside.reduce(spendInside, executed.ledger),
    usage: inside.reduce((sum, { usage }) => addUsage(sum, usage), state.usage),
    limits: executed.limits,
    gate: executed.modes.reduce(applyMode, state.gate),
    learned: learn(state.learned, transcript.since(state.transcript.length), state.gate.allowed),
    modes: executed.modes.length === 0 ? state.modes : [...state.modes, ...executed.modes],
    now: Math.max(state.now, executed.endedAt),
    violations: 0,
    pending: 0,
    called: true,
  };
  return { state: settled, end: endOfBatch(executed, { calls, gate: state.gate }, run) };
}

/** The author ends runs in which the model stops for this reason. Its calls do not run. */
function stopOnReason(state: State, reply: Pick<ModelRecord, "message" | "finishReason">, run: Run): Step {
  const reason = `Finish reason "${reply.finishReason}" matched stop condition`;
  const end = authorStopped(run, reason);
  const added = addReply(state.transcript, reply.message);
  if (added.state === "open") return skipAll(state, { open: added, reason, end });
  return { state: { ...state, transcript: added }, end };
}

function askAgain(state: State, reading: Extract<Reading, { type: "violation" }>, run: Run): Step {
  const { reason, feedback, message } = reading;
  const violations = state.violations + 1;
  const transcript = addUser(
    addReply(state.transcript, message) as ReadyTranscript,
    runtimeMessage(feedback),
  );
  const next = { ...state, transcript, violations };
  if (violations >= (driverOf(state, run).maxViolations ?? maxViolations))
    return violated(next, { count: violations, reason }, run);
  run.tell?.({ type: "retry-start", turn: state.ledger.turns, reason });
  return { state: next };
}

function violated(state: State, about: { readonly count: number; readonly reason: string }, run: Run): Step {
  const { name: driver } = driverOf(state, run);
  const error = new WritError("protocol-violated", { model: run.model.id, driver, ...about });
  return { state, end: { outcome: failed(error), error } };
}

/** The reply is half a turn. Violations are counted over it: a model that goes on choosing and never fills in would not end. */
function askOn(state: State, message: ReplyMessage, run: Run): Step {
  const pending = state.pending + 1;
  const next = { ...state, pending, transcript: addReply(state.transcript, message) as ReadyTranscript };
  if (pending < maxPending) return { state: next };
  return violated(next, { count: pending, reason: "its replies only began a turn, and none ended it" }, run);
}

/** The provider held the answer back: no use in asking again. */
function filtered(state: State, message: ReplyMessage, run: Run): Step {
  const reason = `the provider filtered the answer: ${textOf(message)}`;
  const error = new WritError("run-refused", { name: run.gate.agent, reason });
  const end: End = { outcome: { type: "refused", code: error.code, message: error.message }, error };
  const added = addReply(state.transcript, message);
  if (added.state === "open")
    return skipAll(state, { open: added, reason: "the provider filtered the reply", end });
  return { state: { ...state, transcript: added }, end };
}

interface Answered {
  readonly reading: Extract<Reading, { type: "final" }>;
  readonly record: ModelRecord;
}

async function answer(state: State, { reading, record }: Answered, run: Run): Promise<Step> {
  const { content, message } = reading;
  const { finishReason } = record;
  const read = await readAnswer({ content, finishReason }, run);
  if (!read.ok && record.answer === undefined)
    return askAgain(state, { type: "violation", message, ...read }, run);
  const transcript = addReply(state.transcript, message) as ReadyTranscript;
  const next = { ...state, transcript };
  if (!read.ok)
    return {
      state: next,
      end: unacceptable({ hook: record.answer?.by ?? "", place: "onError" }, read.reason),
    };
  return {
    state: next,
    end: {
      outcome: { type: "answered", content, finishReason },
      output: read.output,
      mayContinue: true,
    },
  };
}
