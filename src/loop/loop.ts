import type { Reading, TurnInput } from "../driver/driver.ts";
import { WritError } from "../error/writ-error.ts";
import type { RunEvent } from "../event/event.ts";
import { mergeLive } from "../event/merge-live.ts";
import { execute } from "../executor/execute.ts";
import type { EarlyCall } from "../executor/run-calls.ts";
import { callsOf, type ReplyMessage, textOf, userMessage } from "../message/message.ts";
import {
  addReply,
  addUser,
  type OpenTranscript,
  type ReadyTranscript,
  settleAll,
} from "../message/transcript.ts";
import { addUsage } from "../message/usage.ts";
import { reserveTurn, spend } from "../policy/budget.ts";
import { type Channel, channel } from "../util/channel.ts";
import { type Interrupt, interrupt, untilStopped } from "../util/interrupt.ts";
import { askModel, type ModelRecord } from "./ask-model.ts";
import { earlyCalls } from "./early-calls.ts";
import { broken, endOfBatch, exhausted, failed, outOfTurns, stopped } from "./end.ts";
import type { LoopOptions, LoopResult, StopReason } from "./options.ts";
import {
  beginRun,
  beginState,
  linkSignal,
  type End,
  type Run,
  type State,
  type Step,
  type Tell,
} from "./run.ts";
import { driverOf, readingOf, requestFingerprint, turnInput } from "./turn-input.ts";

/** How often in a row a model may send a reply that the driver cannot accept, before the run fails. */
const maxViolations = 3;

/**
 * The turn cycle, written once: asks the model, carries out its calls, asks again, until it answers or a bound is met. Yields what happens
 * (nothing when `watched` is false) and returns how it ended. The run does not wait for its reader; leaving the generator early stops the
 * model and the tools that run.
 *
 * @throws WritError when the world fails (a provider, the journal), after `run-end` with outcome `failed`.
 */
export async function* loop(options: LoopOptions): AsyncGenerator<RunEvent, LoopResult> {
  const stop = interrupt<StopReason>();
  const events = options.watched ? channel<RunEvent>(mergeLive) : undefined;
  const tell = events === undefined ? undefined : tellUntilEnd(events);
  const work = runToEnd(options, stop, tell).finally(() => events?.close());
  work.catch(() => undefined); // thrown below, once the reader has been told what happened before
  let finished = false;
  try {
    if (events !== undefined) yield* events;
    finished = true;
    return await work;
  } finally {
    if (!finished) stop.stop({ type: "cancelled", reason: "nobody reads the run any more" });
  }
}

/** Nothing is told after `run-end`, whatever still goes on outside. */
function tellUntilEnd(events: Channel<RunEvent>): (event: RunEvent) => void {
  return (event) => {
    events.push(event);
    if (event.type === "run-end") events.close();
  };
}

async function runToEnd(options: LoopOptions, stop: Interrupt<StopReason>, tell: Tell): Promise<LoopResult> {
  const unlink = linkSignal(options.signal, stop);
  const { durationMs } = options.limits;
  const stopTimer =
    durationMs === Infinity
      ? undefined
      : options.host.timer(durationMs, () => stop.stop({ type: "duration" }));
  let state = beginState(options.transcript, 0);
  let end: End | undefined;
  try {
    tell?.({ type: "run-start", agent: options.gate.agent, input: options.input });
    tell?.({ type: "skill-chosen", skill: options.gate.allowed.skill });
    const startedAt = await options.journal.step({
      key: "start",
      run: () => Promise.resolve(options.host.now()),
    });
    const run = beginRun(options, { stop, startedAt, tell });
    state = { ...state, now: startedAt };
    while (end === undefined) ({ state, end } = await runTurn(state, run));
  } catch (error) {
    end = broken(error, options.gate.agent);
  } finally {
    stopTimer?.();
    unlink?.();
  }
  const { outcome, output, error } = end;
  tell?.({ type: "run-end", outcome, usage: state.usage });
  if (end.throws === true && error !== undefined) {
    stop.stop({ type: "cancelled", reason: "the run failed" }); // calls that were started early have nobody to wait for them
    throw error;
  }
  return {
    outcome,
    output,
    error,
    transcript: state.transcript,
    usage: state.usage,
    turns: state.ledger.turns,
  };
}

/** One turn: one reply of the model, and the results of the calls in it. */
async function runTurn(before: State, run: Run): Promise<Step> {
  if (run.stop.reason !== undefined) return { state: before, end: stopped(run, run.stop.reason) };
  const reservation = reserveTurn(before.ledger, run.limits, before.now - run.startedAt);
  if (!reservation.ok) return { state: before, end: exhausted(run, reservation.excess) };
  const turn = reservation.ledger.turns;
  run.tell?.({ type: "turn-start", turn });
  try {
    return await askAndAct({ ...before, ledger: reservation.ledger }, run);
  } finally {
    run.tell?.({ type: "turn-end", turn });
  }
}

async function askAndAct(before: State, run: Run): Promise<Step> {
  const { turns: turn } = before.ledger;
  const input = turnInput(before, run);
  const early = new Map<string, EarlyCall>();
  const asked = await ask({ state: before, input, early }, run);
  if ("outcome" in asked) {
    run.tell?.({
      type: "message-end",
      turn,
      finishReason: "error",
      driver: driverOf(before, run).name,
      durationMs: 0,
    });
    return { state: before, end: asked };
  }
  const driver = Math.max(
    0,
    run.drivers.findIndex((candidate) => candidate.name === asked.driver),
  );
  const reading = readingOf(asked, { driver: run.drivers[driver] ?? run.drivers[0], input, turn });
  const { message } = reading;
  run.tell?.({
    type: "message-end",
    turn,
    message,
    finishReason: asked.finishReason,
    driver: asked.driver,
    durationMs: asked.endedAt - asked.startedAt,
  });
  const costUsd = knownPrice((run.price ?? run.model.price)?.(asked.usage));
  const usage = addUsage(before.usage, asked.usage);
  run.tell?.({
    type: "usage-add",
    turn,
    usage: asked.usage,
    total: usage,
    ...(costUsd === undefined ? {} : { costUsd }),
  });
  const ledger = spend(before.ledger, run.limits, { usage: asked.usage, costUsd });
  const state = { ...before, ledger, usage, driver, now: asked.endedAt, sent: before.transcript.length };
  if (reading.type === "calls")
    return await act({ state, message, early, mayCall: input.toolChoice !== "none" }, run);
  if (asked.finishReason === "content-filter") return filtered(state, message, run);
  if (reading.type === "violation") return askAgain(state, reading, run);
  return await answer(state, { reading, record: asked }, run);
}

/** Only a number that can be a price is one. */
function knownPrice(costUsd: number | undefined): number | undefined {
  return costUsd !== undefined && Number.isFinite(costUsd) && costUsd >= 0 ? costUsd : undefined;
}

interface Asking {
  readonly state: State;
  readonly input: TurnInput;
  readonly early: Map<string, EarlyCall>;
}

/** The model call as one step of the journal. */
async function ask({ state, input, early }: Asking, run: Run): Promise<ModelRecord | End> {
  const { turns: turn } = state.ledger;
  const drivers = run.drivers.slice(state.driver);
  const mayCall = input.toolChoice !== "none";
  const onCall = mayCall ? earlyCalls({ turn, ledger: state.ledger, early }, run.execution) : undefined;
  const inputCharacters = (): number => run.inputCharacters(input.transcript);
  const question = {
    turn,
    input,
    drivers,
    host: run.host,
    stop: run.stop,
    inputCharacters,
    emit: run.tell,
    onCall,
  };
  const step = {
    key: `turn/${turn}/model`,
    fingerprint: () => requestFingerprint(state, run),
    run: async () => {
      const record = await askModel(question);
      if (run.stop.reason !== undefined) throw new Error("the run was stopped"); // what nobody waited for is not recorded
      return record;
    },
  };
  try {
    const record = await untilStopped(run.journal.step(step), run.stop);
    return record === "stopped" ? stopped(run, run.stop.reason ?? { type: "duration" }) : record;
  } catch (error) {
    if (run.stop.reason !== undefined) return stopped(run, run.stop.reason);
    return broken(error, run.gate.agent);
  }
}

interface Acting {
  readonly state: State;
  readonly message: ReplyMessage;
  readonly early: ReadonlyMap<string, EarlyCall>;
  readonly mayCall: boolean;
}

async function act({ state, message, early, mayCall }: Acting, run: Run): Promise<Step> {
  const { turns: turn } = state.ledger;
  const open = addReply(state.transcript, message) as OpenTranscript;
  if (!mayCall) {
    const transcript = settleAll(open, () => ({
      status: "skipped",
      text: "Not run: this turn had to answer without tools.",
    }));
    return { state: { ...state, transcript, violations: 0 }, end: outOfTurns(run) };
  }
  const calls = callsOf(message);
  const executed = await execute({ turn, calls, ledger: state.ledger, early }, run.execution);
  const results = executed.results.values();
  const transcript = settleAll(open, () => results.next().value ?? { status: "unknown", text: "No result." });
  const now = Math.max(state.now, executed.endedAt);
  return {
    state: { ...state, transcript, ledger: executed.ledger, now, violations: 0 },
    end: endOfBatch(executed, calls, run),
  };
}

function askAgain(state: State, reading: Extract<Reading, { type: "violation" }>, run: Run): Step {
  const { reason, feedback, message } = reading;
  const violations = state.violations + 1;
  const transcript = addUser(addReply(state.transcript, message) as ReadyTranscript, userMessage(feedback));
  const next = { ...state, transcript, violations };
  if (violations >= maxViolations) {
    const driver = driverOf(state, run).name;
    const error = new WritError("protocol-violated", {
      model: run.model.id,
      driver,
      count: violations,
      reason,
    });
    return { state: next, end: { outcome: failed(error), error } };
  }
  run.tell?.({ type: "retry-start", turn: state.ledger.turns, reason });
  return { state: next };
}

/** The provider held the answer back: no use in asking again. */
function filtered(state: State, message: ReplyMessage, run: Run): Step {
  const reason = `the provider filtered the answer: ${textOf(message)}`;
  const error = new WritError("run-refused", { name: run.gate.agent, reason });
  const transcript = addReply(state.transcript, message) as ReadyTranscript;
  return {
    state: { ...state, transcript },
    end: { outcome: { type: "refused", code: error.code, message: error.message }, error },
  };
}

interface Answered {
  readonly reading: Extract<Reading, { type: "final" }>;
  readonly record: ModelRecord;
}

async function answer(state: State, { reading, record }: Answered, run: Run): Promise<Step> {
  const { content, message } = reading;
  const read = await run.readAnswer(content);
  if (!read.ok) return askAgain(state, { type: "violation", message, ...read }, run);
  const transcript = addReply(state.transcript, message) as ReadyTranscript;
  const next = { ...state, transcript };
  return {
    state: next,
    end: { outcome: { type: "answered", content, finishReason: record.finishReason }, output: read.output },
  };
}
