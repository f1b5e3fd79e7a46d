import { execute, type Executed } from "../call/batch.ts";
import { lostResult } from "../call/call.ts";
import { isFailure } from "../call/order.ts";
import { WritError } from "../error/writ-error.ts";
import { callsOf, type ReplyMessage, type ToolCall, type ToolResult } from "../message/message.ts";
import { addReply, type OpenTranscript, settleAll } from "../message/transcript.ts";
import { addUsage } from "../message/usage.ts";
import { effectIn } from "../policy/allow-list.ts";
import { spendInside } from "../policy/account/budget.ts";
import { learn } from "../policy/knowledge/learned.ts";
import { type End, endBy, exhausted, failed, stopped, suspended } from "../run/end.ts";
import { applyMode, type Gate } from "../run/gate.ts";
import { after, attempt, type Maybe } from "../util/maybe.ts";
import { type Circle, circleOf, rememberAct } from "./circles.ts";
import type { EarlyCalls } from "./early.ts";
import type { Run, State, NextState } from "./state.ts";

/** A reply that calls tools, and the calls of it that were started while the model wrote. */
export interface Acting {
  readonly state: State;
  readonly message: ReplyMessage;
  readonly early: EarlyCalls;
}

/** Carries out the calls of a reply and gives each its result. */
export function act(acting: Acting, run: Run): Maybe<NextState> {
  const { state, message } = acting;
  const open = addReply(state.transcript, message) as OpenTranscript;
  const calls = callsOf(message);
  const circle = circleOf(state, calls);
  if (circle.type === "end")
    return skipAll(state, { open, reason: circle.excess.message, end: exhausted(run, circle.excess) });
  return after(run.beforeEffect === undefined ? undefined : beforeEffects(calls, run), (end) =>
    end === undefined
      ? carryOut(acting, { open, calls, circle }, run)
      : skipAll(state, { open, reason: "the run had to end before it", end }),
  );
}

interface OpenedBatch {
  readonly open: OpenTranscript;
  readonly calls: readonly ToolCall[];
  readonly circle: Circle;
}

function carryOut({ state, early }: Acting, opened: OpenedBatch, run: Run): Maybe<NextState> {
  const { calls, circle, open } = opened;
  const { turns: turn } = state.ledger;
  const refuse = circle.type === "refuse" ? circle.reason : undefined;
  return attempt(
    () => execute({ ...state, run, turn, calls, early: early.started, refuse }),
    (executed) => settleCalls(state, { ...opened, executed }, run),
    (error) => {
      const text = "Not known: the run ended while the call was carried out.";
      const transcript = settleAll(open, () => ({ status: "unknown", text }));
      const learned = learn(state.learned, transcript.since(state.transcript.length), state.gate.allowed);
      return { state: { ...state, transcript, learned }, end: endBy(error, run) };
    },
  );
}

/** The end when something forbids that the run begins to change things; asked where one of the calls is not known to look or compute. */
async function beforeEffects(calls: readonly ToolCall[], run: Run): Promise<End | undefined> {
  const effectOf = effectIn(run.gate.allowed);
  if (calls.every(({ name }) => effectOf(name) === "none" || effectOf(name) === "read")) return undefined;
  try {
    await run.beforeEffect?.();
    return undefined;
  } catch (error) {
    return endBy(error, run);
  }
}

interface Skipping {
  readonly open: OpenTranscript;
  readonly reason: string;
  readonly end: End;
}

/** Skips the calls of a reply, for an end that came before them. */
export function skipAll(state: State, { open, reason, end }: Skipping): NextState {
  const transcript = settleAll(open, () => ({ status: "skipped", text: `Not run: ${reason}.` }));
  return { state: { ...state, transcript, violations: 0, pending: 0 }, end };
}

interface Carried extends OpenedBatch {
  readonly executed: Executed;
}

/** Gives the calls their results, and books what they changed. */
function settleCalls(state: State, { open, calls, executed, circle }: Carried, run: Run): NextState {
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
    acts:
      executed.inside.length === 0
        ? state.acts
        : [...state.acts, ...executed.inside.flatMap(({ acts = [] }) => acts)],
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

/** The calls of a turn, and the gate that they came through. */
interface Called {
  readonly calls: readonly ToolCall[];
  readonly gate: Gate;
}

/** The end that the calls of a turn bring, if they do. */
function endOfBatch(executed: Executed, { calls, gate }: Called, run: Run): End | undefined {
  if (run.stop.reason !== undefined) return stopped(run, run.stop.reason);
  const { fatal, excess, unknown, checkpoint } = executed;
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
        isFailure({ result, escalated: executed.escalated.has(index) }),
      )
    : -1;
  const call = calls[failure];
  if (call === undefined) return undefined;
  return toolFailed(call, executed.results[failure]?.text ?? "", run);
}

function fatalEnd({ call, fatal }: NonNullable<Executed["fatal"]>, run: Run): End {
  if (fatal.type === "exhausted") return exhausted(run, fatal.excess);
  if (fatal.code === "tool-failed") return toolFailed(call, fatal.reason, run);
  const { reason, severity = "HIGH" } = fatal;
  const cause = run.thrown.get(call.id);
  const error =
    fatal.code === "tool-escalated"
      ? new WritError("tool-escalated", { reason, severity }, { cause })
      : new WritError("tool-unrecoverable", { reason }, { cause });
  return { outcome: failed(error), error };
}

function toolFailed(call: ToolCall, reason: string, run: Run): End {
  const error = new WritError("tool-failed", { tool: call.name, reason }, { cause: run.thrown.get(call.id) });
  return { outcome: failed(error), error };
}
