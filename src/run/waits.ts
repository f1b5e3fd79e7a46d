import type { ApprovalRequest } from "../policy/rules/approval-request.ts";

/** A question that a run waits for. */
export interface OpenQuestion {
  /** Its place in the journal of the outermost run, by which it is answered. */
  readonly key: string;
  readonly request: ApprovalRequest;
}

/**
 * Thrown where a run cannot go on before a question is answered, out of everything around that place: it is neither a result of a call nor a failure
 * of a tool, and no step that it leaves is recorded.
 */
export class RunWaits extends Error {
  readonly questions: readonly OpenQuestion[];

  constructor(questions: readonly OpenQuestion[]) {
    super("the run waits for an answer");
    this.questions = questions;
  }
}
