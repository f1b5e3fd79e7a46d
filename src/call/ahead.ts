import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { AnswerHere } from "../run/approval.ts";
import { isApproved } from "./approved-set.ts";
import type { Call, Ready, SetAnswer } from "./call.ts";
import { checkCall, constraintAgainst, startedEarly } from "./check.ts";
import { questionAbout } from "./question.ts";

/** A call behind the one that a person is asked about, in the same reply, and the question that it would bring. */
export interface QuestionBehind {
  readonly index: number;
  readonly request: ApprovalRequest;
}

/**
 * Finds the questions of the calls behind one, as far as they can be told before its answer: hooks and mending can still make other calls of them. A
 * schema that checks asynchronously is not waited for: its call is asked about by itself.
 */
export function questionsBehind({ at }: Ready): readonly QuestionBehind[] {
  return at.batch.calls.flatMap((proposed, index) => {
    if (index <= at.index || isSettled(at, index)) return [];
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

/** True for a call that was answered with an earlier one, or by whoever was asked before this process. */
function isSettled({ batch: { run, turn }, answered = [] }: Call, index: number): boolean {
  const isAnswered = answered.some((one) => one.index === index);
  return isAnswered || run.journal.find?.(`turn/${turn}/approval/${index}`) !== undefined;
}

function questionOf(call: Call): ApprovalRequest | undefined {
  const { batch, proposed, approved = [] } = call;
  if (startedEarly(batch, proposed) !== undefined || constraintAgainst(call) !== undefined) return undefined;
  const fate = checkCall(call);
  if (fate instanceof Promise || fate.type === "refused" || fate.decision.verdict !== "ask") return undefined;
  const request = questionAbout(fate, fate.decision);
  return isApproved(approved, fate, request.hash) ? undefined : request;
}

/** The calls behind that an answer is about too, each shown one once; or the fault in its `also`. */
export function answeredAlong(
  { also }: Pick<AnswerHere, "also">,
  behind: readonly QuestionBehind[],
): readonly Pick<SetAnswer, "index" | "hash">[] | string {
  if (also === undefined) return [];
  if (!Array.isArray(also)) return "`also` of the answer is no list of hashes";
  const left = [...behind];
  const along: Pick<SetAnswer, "index" | "hash">[] = [];
  for (const hash of also as readonly unknown[]) {
    const place = left.findIndex(({ request }) => request.hash === hash);
    const [shown] = place < 0 ? [] : left.splice(place, 1);
    if (shown === undefined)
      return `\`also\` of the answer has ${JSON.stringify(String(hash).slice(0, 100))}, which none of the calls behind has that were shown with the question`;
    along.push({ index: shown.index, hash: shown.request.hash });
  }
  return along;
}

/** The answer that a person gave with that of an earlier call of the reply. Undefined where there is none, and for a call that is another one than was shown. */
export function answerAhead({ index, answered = [] }: Call, hash: string): SetAnswer | undefined {
  return answered.find((one) => one.index === index && one.hash === hash);
}
