import type { AnswerHere } from "../run/approval.ts";
import type { Call, QuestionBehind, SetAnswer } from "./call.ts";

/** The later calls that an answer covers too, one for each shown hash; or the fault in its `also`. */
export function answeredAlong(
  { also }: Pick<AnswerHere, "also">,
  behind: readonly QuestionBehind[],
): readonly Pick<SetAnswer, "index" | "hash">[] | string {
  if (also === undefined) return [];
  if (!Array.isArray(also)) return "`also` of the answer is not a list of hashes";
  const left = [...behind];
  const along: Pick<SetAnswer, "index" | "hash">[] = [];
  for (const hash of also as readonly unknown[]) {
    const place = left.findIndex(({ request }) => request.hash === hash);
    const [shown] = place < 0 ? [] : left.splice(place, 1);
    if (shown === undefined)
      return `\`also\` of the answer has ${JSON.stringify(String(hash).slice(0, 100))}, which is the hash of none of the later calls that were shown with the question`;
    along.push({ index: shown.index, hash: shown.request.hash });
  }
  return along;
}

/** The answer that a person gave together with that of an earlier call of the reply. Undefined without one, and for a call that differs from the one shown. */
export function answerAhead({ index, answered = [] }: Call, hash: string): SetAnswer | undefined {
  return answered.find((one) => one.index === index && one.hash === hash);
}
