import type { Outcome } from "../../event/outcome.ts";
import type { ResultStatus } from "../../message/message.ts";
import type { Usage } from "../../message/usage.ts";
import type { Json } from "../../util/json.ts";
import type { RecordedRun } from "./eval-case.ts";

/** A call of a tool in a run that is evaluated. */
export interface EvaluatedCall {
  readonly tool: string;
  /** The raw text where the model wrote no JSON. */
  readonly arguments: Json;
  readonly status: ResultStatus;
  /** The text that the model was told. */
  readonly result: string;
  /** The agent that made it, where that is one inside the agent that is evaluated. */
  readonly by?: string;
}

/** The end of one run of a case. */
export interface EvaluatedRun {
  readonly outcome: Outcome["type"];
  /** The reason why there is not an answer. */
  readonly error?: { readonly code: string; readonly message: string };
  /** Empty where there is none. */
  readonly answer: string;
  /** The answer as a value, where it is no text. */
  readonly output?: Json;
  /** In the order in which they were decided, with those of agents inside. */
  readonly calls: readonly EvaluatedCall[];
  /** With those of agents inside, like usage and dollars. */
  readonly turns: number;
  readonly usage: Usage;
  /** Dollars; left out where a model has no price. */
  readonly costUsd?: number;
  readonly durationMs: number;
}

/** An expectation that does not hold, or that cannot be told. */
export interface Failure {
  /** Its place in the case, like `calls[0]` or `answer.contains`. */
  readonly expectation: string;
  readonly message: string;
}

/** The word of the model that judged a run. */
export interface JudgeVerdict {
  readonly passes: boolean;
  readonly reason: string;
  /** It fails no run. */
  readonly advisory: boolean;
}

/** A run of a case, held against what is expected. */
export interface RunReport extends EvaluatedRun {
  readonly passed: boolean;
  readonly failures: readonly Failure[];
  readonly verdict?: JudgeVerdict;
  /** The replies of the models, where the evaluation keeps them. */
  readonly recorded?: RecordedRun;
  /** Replies that were recorded answer other requests than were made: the agent has changed since. */
  readonly outdated?: boolean;
}

/** A case with its runs. `not-run` where the evaluation was stopped before all of them had ended. */
export interface CaseReport {
  readonly name: string;
  readonly file?: string;
  readonly status: "passed" | "failed" | "not-run";
  /** The number of runs that the case wants, and the share of them that must pass. */
  readonly wanted: number;
  readonly atLeast: number;
  readonly passedRuns: number;
  readonly runs: readonly RunReport[];
}

/** The end of an evaluation. */
export interface EvalReport {
  readonly agent: string;
  /** All cases passed. */
  readonly passed: boolean;
  readonly counts: { readonly passed: number; readonly failed: number; readonly notRun: number };
  /** In the order in which they were given. */
  readonly cases: readonly CaseReport[];
  /** Of all runs, without the judge's. */
  readonly usage: Usage;
  /** Dollars; left out where a model has no price. */
  readonly costUsd?: number;
  readonly durationMs: number;
}

/** A failed expectation on one line: its place, and the reason. */
export function failureLine({ expectation, message }: Failure): string {
  return `${expectation}: ${message}`;
}
