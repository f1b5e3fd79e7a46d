import { checkShape, closed } from "../error/check-shape.ts";
import type { AnswerBounds } from "../journal/journal.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { duration, type Duration, durationMs } from "../util/duration.ts";
import type { JsonObject } from "../util/json.ts";
import { list, optional, type Shape, string } from "../util/shape.ts";

/** A person's answer to a call that the policy asks about. */
export interface Approval {
  readonly approved: boolean;
  /** `once`: this call. `run`: also each later call of this run with the same tool and exactly these arguments. Default `once`. */
  readonly for?: "once" | "run";
  /**
   * With `for: "run"`: each later call of this run that differs in these arguments alone is approved too. Only what the question lists in `open` can be left
   * open: content, while it has no link of a stranger and nothing more private was read, and identifiers with a type.
   */
  readonly free?: readonly string[];
  /** Other arguments, in the place of the model's: checked and judged again. What the policy denies stays denied. */
  readonly arguments?: JsonObject;
  /** Told to the model when the answer is no. */
  readonly reason?: string;
}

/** The bounds of an answer, in a run that waits for it in its journal. */
export interface ApprovalTerms {
  /** The time for which the question stands, from when it was first asked: `"2d"`. Then the answer is no. Default: it stands until it is answered. */
  readonly within?: Duration;
  /** Those who may answer, as `answer` names them in `by`. Default: whoever can reach the store. */
  readonly by?: readonly string[];
}

/** The terms of all questions of an agent, or a function that gives those of one. */
export type Approvals = ApprovalTerms | ((request: ApprovalRequest) => ApprovalTerms | undefined);

/**
 * Asks a person whether a call may run. What throws is taken for a no. `others` are the questions that the calls behind it in the same reply would bring:
 * an answer can be for them `also`. Each is asked about in its turn otherwise.
 *
 * ```ts
 * import type { Approve } from "writ";
 *
 * declare function confirm(text: string): Promise<boolean>;
 *
 * const together: Approve = async (call, others = []) => {
 *   const approved = await confirm([call, ...others].map(({ tool, arguments: args }) => `${tool} ${JSON.stringify(args)}`).join("\n"));
 *   return { approved, also: others.map(({ hash }) => hash) };
 * };
 * ```
 */
export type Approve = (
  call: ApprovalRequest,
  others?: readonly ApprovalRequest[],
) => boolean | AnswerHere | Promise<boolean | AnswerHere>;

/** The answer of a function that is asked while the run goes on. Where runs wait for answers, each question stands by itself. */
export interface AnswerHere extends Approval {
  /**
   * Hashes of `others`, as often as they were shown: each of those calls has this answer too, yes or no, once. One that is another call by its turn
   * is asked about. A hash that was not shown makes the whole answer a no.
   */
  readonly also?: readonly string[];
}

export const approvalTerms: Shape<ApprovalTerms> = closed({
  within: optional(duration),
  by: optional(list(string, "a list of names")),
});

/** The bounds of the answer to a question, as the author wants them. @throws WritError `definition-invalid` for what a function of theirs gave */
export function boundsOf(request: ApprovalRequest, approvals: Approvals = {}): AnswerBounds {
  const terms = typeof approvals === "function" ? (approvals(request) ?? {}) : approvals;
  checkShape(`The \`approvals\` of agent "${request.agent}"`, terms, approvalTerms);
  const { within, by } = terms;
  const answer = { approved: false, reason: `nobody answered within ${within}`, expired: true };
  return {
    ...(within === undefined ? {} : { atLast: { afterMs: durationMs(within), answer } }),
    ...(by === undefined ? {} : { by }),
  };
}
