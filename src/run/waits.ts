import type { ApprovalRequest } from "../policy/rules/approval-request.ts";

/** A question that a run waits for. */
export interface OpenQuestion {
  /** Its place in the journal of the outermost run, by which it is answered. */
  readonly key: string;
  readonly request: ApprovalRequest;
}

/**
 * Thrown where a run cannot go on before a question is answered, or because it is handed over, out of everything around that place: it is neither a result of a call nor a failure
 * of a tool, and no step that it leaves is recorded.
 */
export class RunWaits extends Error {
  readonly questions: readonly OpenQuestion[];
  /** Another process is to go on with the run. */
  readonly isHandedOver: boolean;

  constructor(questions: readonly OpenQuestion[], isHandedOver = false) {
    super(isHandedOver ? "the run is handed over" : "the run waits for an answer");
    this.questions = questions;
    this.isHandedOver = isHandedOver;
  }

  /** The same, and what something beside it waits for. */
  and(other: RunWaits | undefined): RunWaits {
    if (other === undefined) return this;
    return new RunWaits([...this.questions, ...other.questions], this.isHandedOver || other.isHandedOver);
  }
}
