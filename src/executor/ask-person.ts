import { messageOf } from "../error/writ-error.ts";
import type { CallRequest } from "../policy/decision.ts";
import { untilStopped } from "../util/interrupt.ts";
import type { Approval, Approve } from "./approval.ts";
import type { ExecuteOptions } from "./options.ts";
import { cancelledResult } from "./perform.ts";
import type { Runnable } from "./prepare.ts";
import type { Planned } from "./run-calls.ts";

/** A call that the policy is not sure of, and its place in the turn. */
export interface Asking {
  readonly turn: number;
  readonly index: number;
  readonly prepared: Runnable;
}

/** Asks a person. Nobody to ask means no; when the run is stopped meanwhile, the call is cancelled. */
export async function askPerson(
  { turn, index, prepared }: Asking,
  options: ExecuteOptions,
): Promise<Planned> {
  const { call, tool, request } = prepared;
  const { id: callId, name } = call;
  options.tell?.({ type: "approval-request", turn, callId, name, arguments: request.arguments });
  const step = {
    key: `turn/${turn}/approval/${index}`,
    fingerprint: () => `${name} ${JSON.stringify(call.arguments)}`,
    run: () => answerOf(request, options.approve),
  };
  const answer = await untilStopped(options.journal.step(step), options.stop);
  if (answer === "stopped") {
    options.tell?.({ type: "approval-answer", turn, callId, approved: false, reason: "the run was stopped" });
    return { call, prepared, result: cancelledResult(name) };
  }
  options.tell?.({ type: "approval-answer", turn, callId, ...answer });
  if (answer.approved) return { call, prepared };
  const text = `Tool '${tool.name}' was denied: ${answer.reason ?? "a person said no"}`;
  return { call, prepared, result: { status: "denied", text } };
}

async function answerOf(request: CallRequest, approve: Approve | undefined): Promise<Approval> {
  if (approve === undefined)
    return { approved: false, reason: "it needs an approval, and there is nobody to ask" };
  try {
    const answer = await approve(request);
    if (typeof answer === "boolean") return { approved: answer };
    return {
      approved: isYes(answer.approved),
      ...(answer.reason === undefined ? {} : { reason: answer.reason }),
    };
  } catch (error) {
    return { approved: false, reason: `asking failed: ${messageOf(error)}` };
  }
}

/** Plain JavaScript can answer with anything; only `true` is a yes. */
function isYes(answer: unknown): boolean {
  return answer === true;
}
