import { messageOf } from "../error/writ-error.ts";
import type { Fact } from "../event/event.ts";
import { approvalRequest, type ApprovalRequest } from "../policy/approval-request.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { untilStopped } from "../util/interrupt.ts";
import { isJsonObject, type Json, type JsonObject, toJson } from "../util/json.ts";
import type { Approval, Approve } from "../run/approval.ts";
import { judging, type Planning } from "./call.ts";
import type { ExecuteOptions } from "../run/context.ts";
import { cancelledResult } from "./run.ts";
import { decidedFact } from "./decided-fact.ts";
import { prepare, type Runnable } from "./judge.ts";
import type { Planned } from "./run-calls.ts";

/** What the journal keeps of an answer. */
type Answer = Pick<Approval, "approved" | "reason" | "for"> & {
  readonly edited?: JsonObject;
};

/** Asks a person about a call that the policy is not sure of. Nobody to ask means no; when the run is stopped meanwhile, the call is cancelled. */
export async function askPerson(
  planning: Planning,
  prepared: Runnable,
  options: ExecuteOptions,
): Promise<Planned> {
  const { batch, index } = planning;
  const { turn } = batch;
  const { call, request, decision } = prepared;
  const { id: callId, name } = call;
  const args = request.arguments;
  const hash = callHash(name, args, options);
  if (planning.approved?.includes(hash) === true) return { call, prepared };
  const question = approvalRequest(request, decision, hash);
  options.tell?.({
    type: "approval-request",
    turn,
    callId,
    name,
    arguments: args,
    request: question,
  });
  const step = {
    key: `turn/${turn}/approval/${index}`,
    fingerprint: () => `${name} ${JSON.stringify(call.arguments)}`,
    run: () => answerOf(question, options.approve),
  };
  const asking = options.journal.step(step).catch((error: unknown) => {
    const reason = "the answer could not be recorded";
    options.tell?.({ type: "approval-answer", turn, callId, approved: false, reason });
    throw error;
  });
  const answer = await untilStopped(asking, options.stop);
  if (answer === "stopped") {
    options.tell?.({ type: "approval-answer", turn, callId, approved: false, reason: "the run was stopped" });
    return { call, prepared, result: cancelledResult(name) };
  }
  options.tell?.(answerFact(planning, prepared, answer));
  if (!answer.approved) {
    const text = `Tool '${name}' was denied: ${answer.reason ?? "a person said no"}`;
    return { call, prepared, result: { status: "denied", text } };
  }
  const approved = answer.for === "run" ? { approved: hash } : {};
  return answer.edited === undefined
    ? { call, prepared, ...approved }
    : edited(planning, { ...call, arguments: answer.edited }, options);
}

/** What is approved is one tool with exactly these arguments. */
function callHash(name: string, args: Json, { host }: ExecuteOptions): string {
  return host.digest(`${name} ${canonicalJson(args)}`);
}

/** A call with a person's arguments is judged like any other; asking again is not needed, since it is the person's own. */
async function edited(
  planning: Planning,
  call: Runnable["call"],
  { tell }: ExecuteOptions,
): Promise<Planned> {
  const { malformed: _malformed, ...whole } = call;
  const prepared = await prepare(whole, judging(planning));
  tell?.(decidedFact(planning.batch.turn, prepared));
  if (prepared.type === "refused") return { call: whole, prepared, result: prepared.result, isEdited: true };
  return { call: whole, prepared, isEdited: true };
}

function answerFact({ batch }: Planning, { call }: Runnable, answer: Answer): Fact {
  return { type: "approval-answer", turn: batch.turn, callId: call.id, ...answer };
}

async function answerOf(request: ApprovalRequest, approve: Approve | undefined): Promise<Answer> {
  if (approve === undefined)
    return { approved: false, reason: "it needs an approval, and there is nobody to ask" };
  try {
    const answer = await approve(request);
    return typeof answer === "boolean" ? { approved: answer } : readAnswer(answer);
  } catch (error) {
    return { approved: false, reason: `asking failed: ${messageOf(error)}` };
  }
}

/** Plain JavaScript can answer with anything: only `true` is a yes, and only an object is other arguments. */
function readAnswer(answer: Approval): Answer {
  const { approved, reason, arguments: given } = answer;
  const why = typeof reason === "string" ? { reason } : {};
  if ((approved as unknown) !== true) return { approved: false, ...why };
  if (given === undefined) return { approved: true, ...why, ...(answer.for === "run" ? { for: "run" } : {}) };
  const json = toJson(given);
  if (!json.ok || !isJsonObject(json.value))
    return { approved: false, reason: "the edited arguments are no JSON object" };
  return { approved: true, ...why, edited: json.value };
}
