import { execute, type Executed } from "../call/batch.ts";
import type { Batch } from "../call/call.ts";
import { startedEarly } from "../call/judge.ts";
import { brokenRecord, lostResult, skippedResult } from "../call/refused.ts";
import { isFailure } from "../call/settle.ts";
import { WritError } from "../error/writ-error.ts";
import { callsOf, type ReplyMessage, type ToolCall, type ToolResult } from "../message/message.ts";
import { addReply, type OpenTranscript, settleAll } from "../message/transcript.ts";
import type { Excess } from "../policy/account/budget.ts";
import { executorError } from "../call/handed.ts";
import { offeredTools } from "../policy/allow-list.ts";
import { learn } from "../policy/knowledge/learned.ts";
import { type End, endBy, exhausted, failed, stopped, suspended } from "../run/end.ts";
import { applyMode, type Gate } from "../run/gate.ts";
import { type Maybe, rescue } from "../util/maybe.ts";
import { sameJson } from "../util/same-json.ts";
import type { EarlyStarts } from "./early.ts";
import { fatalEnd, beforeEffects, leftOpen, skipAll, toolFailed } from "./cut-short.ts";
import type { CallRound, Repeats } from "../run/checkpoint.ts";
import { bookInside, type NextState, type Run, type State } from "./state.ts";

/** A reply that calls tools, with those of its calls that were started while the model wrote. */
export interface Acting {
  readonly state: State;
  readonly message: ReplyMessage;
  readonly early: EarlyStarts;
}

/** Carries out the calls of a reply and settles each with its result. */
export function act({ state, message, early }: Acting, run: Run): Maybe<NextState> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a reply that calls tools leaves its calls open
  const open = addReply(state.transcript, message) as OpenTranscript;
  const calls = callsOf(message);
  const circle = circleOf(state, calls);
  if (circle.type === "end") {
    const resultOf = (): ToolResult => skippedResult(circle.excess.message);
    return skipAll(state, { open, end: exhausted(run, circle.excess), resultOf }, run);
  }
  const opened = { state, early: early.calls?.started, open, calls, circle };
  return run.options.beforeEffect === undefined ? carryOut(opened, run) : carryOutChecked(opened, run);
}

interface OpenedBatch extends Pick<Acting, "state">, Pick<Batch, "early"> {
  readonly open: OpenTranscript;
  readonly calls: readonly ToolCall[];
  readonly circle: Circle;
}

async function carryOutChecked(opened: OpenedBatch, run: Run): Promise<NextState> {
  const { state, early, open, calls } = opened;
  const end = await beforeEffects(calls, run);
  if (end === undefined) return carryOut(opened, run);
  const goesOn = end.questions !== undefined; // the run was handed over: another process carries out its calls
  if (goesOn) return { state, end };
  const records = calls.map((call, index) => {
    const hasBegun = startedEarly({ early }, call) !== undefined;
    const key = `turn/${state.ledger.turns}/call/${index}`;
    return brokenRecord({ key, name: call.name }, run, hasBegun);
  });
  const booked = bookInside(
    state,
    records.flatMap(({ inside }) => inside ?? []),
  );
  const resultOf = (_call: ToolCall, index: number): ToolResult => records[index]?.result ?? lostResult;
  return skipAll({ ...state, ...booked }, { open, end, resultOf }, run);
}

function carryOut(opened: OpenedBatch, run: Run): Maybe<NextState> {
  const { state, early, calls, circle } = opened;
  const { gate, ledger, limits, transcript, learned } = state;
  const refuse = circle.type === "refuse" ? circle.reason : undefined;
  const { turns: turn } = ledger;
  const batch = { run, turn, calls, gate, ledger, limits, transcript, learned, early, refuse };
  try {
    const executed = execute(batch);
    return executed instanceof Promise
      ? settledLater(executed, opened, run)
      : settleCalls(opened, executed, run);
  } catch (error) {
    return leftOpen(error, opened, run);
  }
}

function settledLater(executing: Promise<Executed>, opened: OpenedBatch, run: Run): Promise<NextState> {
  const left = (error: unknown): Maybe<NextState> => leftOpen(error, opened, run);
  return executing.then(
    (executed) => rescue<NextState>(() => settleCalls(opened, executed, run), left),
    left,
  );
}

/** Settles the calls with their results, and books what they changed. */
function settleCalls({ state, open, calls, circle }: OpenedBatch, executed: Executed, run: Run): NextState {
  const { results: brought, repeats } = remember(state, { calls, results: executed.results }, circle);
  const gate = executed.modes.reduce(applyMode, state.gate);
  const results = gate === state.gate ? brought : toldOfNarrowing(brought, state.gate, gate);
  const transcript = settleAll(open, (_call, index) => results[index] ?? lostResult);
  const spent = { ledger: executed.ledger, usage: state.usage, acts: state.acts };
  const { ledger, usage, acts } = bookInside(spent, executed.inside);
  const settled: State = {
    ...state,
    transcript,
    repeats,
    ledger,
    usage,
    acts,
    limits: executed.limits,
    gate,
    learned: learn(state.learned, transcript.since(state.transcript.length), state.gate.allowed),
    modes: executed.modes.length === 0 ? state.modes : [...state.modes, ...executed.modes],
    now: Math.max(state.now, executed.endedAt),
    elapsedMs: state.elapsedMs + executed.activeMs,
    violations: 0,
    pending: 0,
    called: true,
  };
  return { state: settled, end: endOfBatch(executed, { calls, gate: state.gate }, run) };
}

/** The calls of a turn, and the gate that they came through. */
interface Called {
  readonly calls: readonly ToolCall[];
  readonly gate: Gate;
}

/** The end that the calls of a turn bring, if any. */
function endOfBatch(executed: Executed, { calls, gate }: Called, run: Run): End | undefined {
  if (run.stop.reason !== undefined) return stopped(run, run.stop.reason);
  const { fatal, excess, unknown, checkpoint, broken, brokenBy } = executed;
  if (brokenBy !== undefined) return endBy(brokenBy.cause, run);
  if (broken !== undefined) {
    const error = executorError(broken, gate.agent);
    return { outcome: failed(error), error };
  }
  if (fatal !== undefined) return fatalEnd(fatal, run);
  if (excess !== undefined) return checkpoint === true ? suspended(run, excess) : exhausted(run, excess);
  const { skill, tools } = gate.allowed;
  if (unknown !== undefined) {
    const allowed = [...tools.keys()].join(", ");
    const error = new WritError("tool-not-allowed", { tool: unknown.name, skill, allowed });
    return { outcome: { type: "refused", code: error.code, message: error.message }, error };
  }
  const failure = run.endOn.includes("tool-failure")
    ? executed.results.findIndex((result, index) =>
        isFailure({ result, escalated: executed.escalated?.has(index) }),
      )
    : -1;
  const call = calls[failure];
  if (call === undefined) return undefined;
  return toolFailed(call, executed.results[failure]?.text ?? "", run);
}

/** The judgement on calls that may be part of a circle: they run, are refused, or end the run. */
export type Circle =
  | { readonly type: "go" }
  | { readonly type: "refuse"; readonly reason: string; readonly round: CallRound }
  | { readonly type: "end"; readonly excess: Excess };

const go: Circle = { type: "go" };

/** Judges the calls of a turn against the rounds before. */
function circleOf({ limits, repeats }: State, calls: readonly ToolCall[]): Circle {
  const limit = limits.repeats;
  const again = mostTimes(repeats) <= limit ? undefined : proposedAgain(repeats, calls);
  if (again === undefined || again.times <= limit) return go;
  const used = again.times;
  if (used <= limit + 1) {
    const reason = `the same calls brought the same results ${limit} times; they are not made again. Do something else, or answer`;
    return { type: "refuse", reason, round: again.round };
  }
  const message = `went in circles: the same calls would bring the same results for the ${used}th time, more than the budget of ${limit}`;
  return { type: "end", excess: { field: "repeats", limit, used, message } };
}

/** Remembers the round of a turn. Once a circle has come as often as the author allows, the last result tells the model so. */
function remember(
  { limits, repeats }: State,
  round: CallRound,
  circle: Circle,
): { readonly results: readonly ToolResult[]; readonly repeats: Repeats } {
  const { results } = round;
  if (limits.repeats === Infinity) return { results, repeats };
  // A refused call counts as if it had brought the same result again.
  const next = addRound(repeats, circle.type === "refuse" ? circle.round : round);
  const times = timesDone(next);
  if (circle.type !== "go" || times < 2 || times !== Math.floor(limits.repeats))
    return { results, repeats: next };
  return {
    results: results.map((result, index) => (index === results.length - 1 ? nudged(result, times) : result)),
    repeats: next,
  };
}

function nudged(result: ToolResult, times: number): ToolResult {
  const note = `[You have now had the same results ${times} times. Making the same calls again will not help: do something else, or answer.]`;
  return noted(result, note);
}

function noted(result: ToolResult, note: string): ToolResult {
  return { ...result, text: `${result.text}\n${note}` };
}

/** The results. If a call has left the run fewer tools, the last result names them, because requests go on describing all tools. */
function toldOfNarrowing(results: readonly ToolResult[], before: Gate, after: Gate): readonly ToolResult[] {
  const isNarrower = offeredTools(before.allowed).some(({ name }) => !after.allowed.tools.has(name));
  const last = results.at(-1);
  if (!isNarrower || last === undefined) return results;
  const left = offeredTools(after.allowed).map(({ name }) => name);
  const note = `[From now on only these tools can be called: ${left.join(", ") || "none"}.]`;
  return [...results.slice(0, -1), noted(last, note)];
}

/** The longest circle that is looked for, in rounds: one round repeated, two in alternation (ping-pong), or three in turn. */
const longestPeriod = 3;

/** Adds the round of a turn, and counts whether it has the same calls and results as the round one, two or three turns ago. */
export function addRound({ rounds, streaks }: Repeats, round: CallRound): Repeats {
  const next: number[] = [];
  streaks.forEach((streak, index) => {
    const before = rounds.at(-1 - index);
    const isSame = before !== undefined && sameResults(before, round) && sameCalls(before.calls, round.calls);
    next.push(isSame ? streak + 1 : 0);
  });
  return { rounds: rounds.slice(1 - longestPeriod).concat([round]), streaks: next };
}

/** The number of times that the last circle has come, with the same results each time: 1 if the last round is new. */
export function timesDone({ streaks }: Repeats): number {
  return streaks.reduce((most, streak, index) => Math.max(most, Math.floor(streak / (index + 1)) + 1), 1);
}

/** The most times that any calls made now could have brought the same results: 1 if nothing was done yet. */
export function mostTimes({ rounds, streaks }: Repeats): number {
  return streaks.reduce(
    (most, streak, index) =>
      index < rounds.length ? Math.max(most, Math.floor(streak / (index + 1)) + 2) : most,
    1,
  );
}

/**
 * The round that these calls would repeat, and how often it would have come if they brought the same results again.
 * Undefined for calls that continue no circle. Results count: calls that bring something new each time are not a circle.
 */
export function proposedAgain(
  { rounds, streaks }: Repeats,
  calls: readonly ToolCall[],
): { readonly times: number; readonly round: CallRound } | undefined {
  let found: { readonly times: number; readonly round: CallRound } | undefined;
  streaks.forEach((streak, index) => {
    const round = rounds.at(-1 - index);
    if (round === undefined || !sameCalls(round.calls, calls)) return;
    const times = Math.floor(streak / (index + 1)) + 2;
    if (found === undefined || times > found.times) found = { times, round };
  });
  return found;
}

function sameCalls(left: readonly ToolCall[], right: readonly ToolCall[]): boolean {
  if (left.length !== right.length) return false;
  return left.every(({ name, arguments: args }, index) => {
    const other = right[index];
    return other !== undefined && name === other.name && sameJson(args, other.arguments);
  });
}

/** Compares results first: texts compare faster than arguments, and most results are new. */
function sameResults({ results }: CallRound, { results: others }: CallRound): boolean {
  return results.every(({ text }, index) => text === others[index]?.text);
}
