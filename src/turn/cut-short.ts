import type { Executed } from "../call/batch.ts";
import { unfinishedResult } from "../call/refused.ts";
import { tellNotBegun } from "../call/settle.ts";
import { WritError } from "../error/writ-error.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import { type OpenTranscript, settleAll } from "../message/transcript.ts";
import { effectIn } from "../policy/allow-list.ts";
import { learn } from "../policy/knowledge/learned.ts";
import { type End, endBy, exhausted, failed } from "../run/end.ts";
import { RunWaits } from "../run/waits.ts";
import type { Maybe } from "../util/maybe.ts";
import { type Act, actsIn } from "../tool/acts.ts";
import { bookInside, type NextState, type Run, type State } from "./state.ts";

/** A state, and the reply whose calls have no results yet. */
interface OpenCalls {
  readonly state: State;
  readonly open: OpenTranscript;
}

/** The end of a run whose calls have no results: it waits, or nobody knows what became of them. */
export function leftOpen(error: unknown, { state, open }: OpenCalls, run: Run): Maybe<NextState> {
  if (error instanceof RunWaits) return keepPlace({ state, open }, error, run);
  const transcript = settleAll(open, () => unfinishedResult);
  const learned = learn(state.learned, transcript.since(state.transcript.length), state.gate.allowed);
  return { state: { ...state, transcript, learned }, end: endBy(error, run) };
}

/** The end if something forbids the run to begin changing things. Asked unless every call is known to only look or compute. */
export async function beforeEffects(calls: readonly ToolCall[], run: Run): Promise<End | undefined> {
  const effectOf = effectIn(run.gate.allowed);
  const onlyLooks = calls.every(({ name }) => effectOf(name) === "none" || effectOf(name) === "read");
  return onlyLooks ? undefined : forbidden(run);
}

async function forbidden(run: Run): Promise<End | undefined> {
  try {
    await run.options.beforeEffect?.();
    return undefined;
  } catch (error) {
    return endBy(error, run);
  }
}

/** Asks before the run waits too, and just once: others may use its session meanwhile, and the call that somebody approves must run. */
async function keepPlace({ state, open }: OpenCalls, waits: RunWaits, run: Run): Promise<NextState> {
  const booked = { ...state, ...bookInside(state, waits.inside) };
  return {
    state: { ...booked, acts: [...booked.acts, ...actsBeside(waits, { state, open })] },
    end: (await forbidden(run)) ?? endBy(waits, run),
  };
}

/** The acts of those calls that have ended in the turn in which the run waits: its transcript does not have them yet. */
function actsBeside({ results }: RunWaits, { state, open }: OpenCalls): readonly Act[] {
  const settled = settleAll(open, (_call, index) => results[index] ?? { status: "skipped", text: "" });
  return actsIn(settled.since(state.transcript.length), effectIn(state.gate.allowed));
}

interface Skipping {
  readonly open: OpenTranscript;
  readonly end: End;
  /** The result of a call: most were not begun. */
  readonly resultOf: (call: ToolCall, index: number) => ToolResult;
}

/** Skips the calls of a reply, for an end that came before them. */
export function skipAll(state: State, { open, end, resultOf }: Skipping, run: Run): NextState {
  const transcript = settleAll(open, (call, index) => {
    const result = resultOf(call, index);
    if (end.throws !== true) tellNotBegun({ run, turn: state.ledger.turns }, call, result); // otherwise the calls are told when the run is tried again
    return result;
  });
  return { state: { ...state, transcript, violations: 0, pending: 0 }, end };
}

/** The end of a run that a call ended. */
export function fatalEnd({ call, fatal }: NonNullable<Executed["fatal"]>, run: Run): End {
  if (fatal.type === "exhausted") return exhausted(run, fatal.excess);
  if (fatal.code === "tool-failed") return toolFailed(call, fatal.reason, run);
  const { reason, severity = "HIGH" } = fatal;
  const cause = run.thrownBy(call.id);
  const error =
    fatal.code === "tool-escalated"
      ? new WritError("tool-escalated", { reason, severity }, { cause })
      : new WritError("tool-unrecoverable", { reason }, { cause });
  return { outcome: failed(error), error };
}

/** The end after a failed call, if failures end the run. */
export function toolFailed(call: ToolCall, reason: string, run: Run): End {
  const error = new WritError("tool-failed", { tool: call.name, reason }, { cause: run.thrownBy(call.id) });
  return { outcome: failed(error), error };
}
