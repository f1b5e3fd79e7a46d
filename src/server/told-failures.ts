import type { CallBeside } from "../durable/beside.ts";
import type { StoredRun } from "../durable/run-store.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import type { ToolResult } from "../message/message.ts";
import type { Caller } from "./callers.ts";

type Seer = Pick<Caller, "isOperator">;

/** The outcome of a run as its caller is told it. A failure keeps its code; its words, which may be a provider's, are for operators. */
export function toldOutcome(outcome: Outcome, { isOperator }: Seer): Outcome {
  if (isOperator || outcome.type !== "failed") return outcome;
  return { ...outcome, message: "The run failed. The operator of the server can see why." };
}

/** The run as its caller is told it. */
export function toldRun(run: StoredRun, caller: Seer): StoredRun {
  const { end } = run;
  return end === undefined ? run : { ...run, end: { ...end, outcome: toldOutcome(end.outcome, caller) } };
}

/** The result of a call as a caller is told it: the words of a tool that failed are for operators, and for the model. */
function toldResult(result: ToolResult, { isOperator }: Seer): ToolResult {
  if (isOperator || result.status !== "error") return result;
  const { note: _note, value: _value, files: _files, ...told } = result;
  return { ...told, text: "The tool failed. The operator of the server can see why." };
}

/** An event of a run as its caller is told it. */
export function toldEvent(event: AgentEvent, caller: Seer): AgentEvent {
  if (caller.isOperator) return event;
  if (event.type === "run-end") return { ...event, outcome: toldOutcome(event.outcome, caller) };
  if (event.type === "tool-end" || event.type === "knowledge-used")
    return { ...event, result: toldResult(event.result, caller) };
  if (event.type !== "retry-start") return event;
  return { ...event, reason: "The model is asked again. The operator of the server can see why." };
}

/** The calls that ended beside a question, as a caller is told them. */
export function toldBeside(calls: readonly CallBeside[], caller: Seer): readonly CallBeside[] {
  return calls.map((call) => ({ ...call, result: toldResult(call.result, caller) }));
}
