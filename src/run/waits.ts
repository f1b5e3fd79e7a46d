import type { ToolResult } from "../message/message.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { Inside } from "./inside.ts";

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
  /** The runs inside the calls that it leaves without a record, with what they spent. */
  readonly inside: readonly Inside[];
  /** The results of the calls beside that have ended, by their places in the reply. */
  results: readonly (ToolResult | undefined)[] = [];

  constructor(questions: readonly OpenQuestion[], isHandedOver = false, inside: readonly Inside[] = []) {
    super(isHandedOver ? "the run is handed over" : "the run waits for an answer");
    this.questions = questions;
    this.isHandedOver = isHandedOver;
    this.inside = inside;
  }

  /** The same, and what something beside it waits for. */
  and(other: RunWaits | undefined): RunWaits {
    if (other === undefined) return this;
    const isHandedOver = this.isHandedOver || other.isHandedOver;
    return new RunWaits([...this.questions, ...other.questions], isHandedOver, [
      ...this.inside,
      ...other.inside,
    ]);
  }

  /** The same, and what happened inside a call that it leaves. */
  leaving(...inside: readonly (Inside | undefined)[]): RunWaits {
    const more = inside.filter((each) => each !== undefined);
    return more.length === 0
      ? this
      : new RunWaits(this.questions, this.isHandedOver, [...this.inside, ...more]);
  }

  /** The same, and how the calls of its reply have ended that have. */
  beside(results: readonly (ToolResult | undefined)[]): RunWaits {
    const waits = new RunWaits(this.questions, this.isHandedOver, this.inside);
    waits.results = results;
    return waits;
  }
}

/** Thrown by a run that is handed over: another process goes on with it. */
export function handedOver(): RunWaits {
  return new RunWaits([], true);
}
