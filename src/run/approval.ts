import { checkShape, closed } from "../error/check-shape.ts";
import type { AnswerBounds } from "../journal/journal.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { duration, type Duration, durationMs } from "../util/duration.ts";
import type { JsonObject } from "../util/json.ts";
import { filled, list, optional, refined, type Shape } from "../util/shape.ts";

/** A person's answer to a call that the policy asks about. */
export interface Approval {
  /** True: the call runs. False: it does not, and the model is told so. */
  readonly approved: boolean;
  /** `once`: this call. `run`: also each later call of this run with the same tool and exactly the same arguments. Default `once`. */
  readonly for?: "once" | "run";
  /**
   * With `for: "run"`: each later call of this run that differs only in these arguments is approved too. Only arguments that the question lists in `open`
   * can be left open: content, as long as it has no link of a stranger and nothing more private was read, and identifiers with a type.
   */
  readonly free?: readonly string[];
  /** Arguments that replace those of the model: checked and judged again. A call that the policy denies stays denied. */
  readonly arguments?: JsonObject;
  /** Told to the model when the answer is no. */
  readonly reason?: string;
}

/** The bounds of an answer, for a run that waits for it in its journal. */
export interface ApprovalTerms {
  /** The time that the question stands, counted from when it was first asked: `"2d"`. After that the answer is no. Default: it stands until answered. */
  readonly within?: Duration;
  /** The people who may answer, as `answer` names them in `by`. Default: anyone who can reach the store. */
  readonly by?: readonly string[];
}

/** The run whose question it is: of an agent inside another run, the outermost one. Behind a server its id begins with the name of the caller: `ada/order-17`. */
export interface QuestionedRun {
  readonly runId: string;
}

/** The terms of all questions of an agent, or a function that returns the terms of one question. */
export type Approvals =
  | ApprovalTerms
  | ((request: ApprovalRequest, run: QuestionedRun) => ApprovalTerms | undefined);

/** The terms of an agent's questions, in a run. */
export interface TermsInRun extends QuestionedRun {
  readonly terms: Approvals;
}

/**
 * Asks a person whether a call may run. A function that throws counts as a no. `others` are the questions that the next 100 calls of the same reply would bring:
 * an answer can cover them in `also`. A question that it does not cover is asked in its turn.
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

/** The answer of a function that is asked while the run goes on. A run that waits for answers gets each question answered by itself. */
export interface AnswerHere extends Approval {
  /**
   * Hashes of `others`, each as often as it was shown: the same answer, yes or no, holds once for each of those calls. A call that has changed by the time
   * of its turn is asked about. A hash that was not shown makes the whole answer a no.
   */
  readonly also?: readonly string[];
}

export const approvalTerms: Shape<ApprovalTerms> = closed({
  within: optional(duration),
  by: optional(refined(list(filled, "a list of names"), "must name somebody", (names) => names.length > 0)),
});

/** The terms of an agent's own: the run of its questions is the outermost one, as for those around it. */
export function termsIn(around: TermsInRun, terms: Approvals): TermsInRun {
  return { ...around, terms };
}

/** The bounds of the answer to a question, as the author sets them. @throws WritError `definition-invalid` if the author's function returned invalid terms */
export function boundsOf(request: ApprovalRequest, approvals: TermsInRun | undefined): AnswerBounds {
  if (approvals === undefined) return {};
  const { terms: given, runId } = approvals;
  const terms = typeof given === "function" ? (given(request, { runId }) ?? {}) : given;
  checkShape(`The \`approvals\` of agent "${request.agent}"`, terms, approvalTerms);
  const { within, by } = terms;
  const answer = { approved: false, reason: `nobody answered within ${within}`, expired: true };
  return {
    ...(within === undefined ? {} : { atLast: { afterMs: durationMs(within), answer } }),
    ...(by === undefined ? {} : { by }),
  };
}
