import type { ToolResult } from "../message/message.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { Inside } from "./inside.ts";

/** A question that a run waits for. */
export interface OpenQuestion {
  /** Its key in the journal of the outermost run, by which it is answered. */
  readonly key: string;
  readonly request: ApprovalRequest;
}

/** An error to whoever catches it. It has no stack, because V8 takes longer to note one than a run takes to stop and wait. */
class WithoutStack {
  static {
    Object.setPrototypeOf(this.prototype, Error.prototype);
  }
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it inherits everything from Error but the stack
const ErrorWithoutStack = WithoutStack as new () => Error;

/**
 * Thrown if a run cannot go on before a question is answered, or because it is handed over. It passes through everything around that place: it is neither
 * the result of a call nor the failure of a tool, and the steps it passes through are not recorded.
 */
export class RunWaits extends ErrorWithoutStack {
  override readonly message: string;
  readonly questions: readonly OpenQuestion[];
  /** True if another process is to go on with the run. */
  readonly isHandedOver: boolean;
  /** The runs inside the calls that were left without a record, with their spending. */
  readonly inside: readonly Inside[];
  /** The results of the other calls of the reply that have ended, by their places in it. */
  results: readonly (ToolResult | undefined)[] = [];

  constructor(questions: readonly OpenQuestion[], isHandedOver = false, inside: readonly Inside[] = []) {
    super();
    this.message = isHandedOver ? "the run is handed over" : "the run waits for an answer";
    this.questions = questions;
    this.isHandedOver = isHandedOver;
    this.inside = inside;
  }

  /** A combination of this wait and another one beside it. */
  and(other: RunWaits | undefined): RunWaits {
    if (other === undefined) return this;
    const isHandedOver = this.isHandedOver || other.isHandedOver;
    return new RunWaits([...this.questions, ...other.questions], isHandedOver, [
      ...this.inside,
      ...other.inside,
    ]);
  }

  /** This wait, with what happened inside a call that it leaves. */
  leaving(...inside: readonly (Inside | undefined)[]): RunWaits {
    const more = inside.filter((each) => each !== undefined);
    return more.length === 0
      ? this
      : new RunWaits(this.questions, this.isHandedOver, [...this.inside, ...more]);
  }

  /** This wait, with the results of those calls of its reply that have ended. */
  beside(results: readonly (ToolResult | undefined)[]): RunWaits {
    const waits = new RunWaits(this.questions, this.isHandedOver, this.inside);
    waits.results = results;
    return waits;
  }
}

/** The error of a run that is handed over: another process goes on with it. */
export function handedOver(): RunWaits {
  return new RunWaits([], true);
}
