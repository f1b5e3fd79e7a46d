import { checkShape, closed } from "../error/check-shape.ts";
import type { AnswerBounds } from "../journal/journal.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { ApprovalTerms } from "../run/approval.ts";
import type { RunContext } from "../run/context.ts";
import { duration, durationMs } from "../util/duration.ts";
import { list, optional, type Shape, string } from "../util/shape.ts";

export const approvalTerms: Shape<ApprovalTerms> = closed({
  within: optional(duration),
  by: optional(list(string, "a list of names")),
});

/** The bounds of the answer to a question, as the author wants them. @throws WritError `definition-invalid` for what a function of theirs gave */
export function boundsOf(
  request: ApprovalRequest,
  { approvals = {} }: Pick<RunContext, "approvals">,
): AnswerBounds {
  const terms = typeof approvals === "function" ? (approvals(request) ?? {}) : approvals;
  checkShape(`The \`approvals\` of agent "${request.agent}"`, terms, approvalTerms);
  const { within, by } = terms;
  const answer = { approved: false, reason: `nobody answered within ${within}`, expired: true };
  return {
    ...(within === undefined ? {} : { atLast: { afterMs: durationMs(within), answer } }),
    ...(by === undefined ? {} : { by }),
  };
}
