import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { approvalAbout, isApproved } from "./ask.ts";
import type { Call, QuestionBehind, Ready } from "./call.ts";
import { checkCall, constraintAgainst, startedEarly } from "./judge.ts";

/** The most calls behind a call that are looked at: a person reads no more together, and each of them is judged again at its own question. */
const most = 100;

/**
 * Finds the questions of the calls after one, as far as they are known before its answer: hooks and mending can still change those calls. A
 * schema that checks asynchronously is not waited for: its call is asked about separately.
 */
export function questionsBehind({ at }: Ready): readonly QuestionBehind[] {
  const first = at.index + 1;
  return at.batch.calls.slice(first, first + most).flatMap((proposed, place) => {
    const index = first + place;
    if (isSettled(at, index)) return [];
    const { batch, uses, approved, spent } = at;
    const { turn, learned } = batch;
    const key = `turn/${turn}/call/${index}`;
    const request = questionOf({
      batch,
      index,
      key,
      proposed,
      learned,
      uses,
      approved,
      spent,
      isAhead: true,
    });
    return request === undefined ? [] : [{ index, request }];
  });
}

/** True for a call that was answered together with an earlier one, or in an earlier process. */
function isSettled({ batch: { run, turn }, answered = [] }: Call, index: number): boolean {
  const isAnswered = answered.some((one) => one.index === index);
  return isAnswered || run.journal.find?.(`turn/${turn}/approval/${index}`) !== undefined;
}

function questionOf(call: Call): ApprovalRequest | undefined {
  const { batch, proposed, approved = [] } = call;
  if (startedEarly(batch, proposed) !== undefined || constraintAgainst(call) !== undefined) return undefined;
  const fate = checkCall(call);
  if (fate instanceof Promise || fate.type === "refused" || fate.decision.verdict !== "ask") return undefined;
  const request = approvalAbout(fate);
  return isApproved(approved, fate, request.hash) ? undefined : request;
}
