import type { Outcome } from "../../event/outcome.ts";
import type { ResultStatus } from "../../message/message.ts";
import type { Usage } from "../../message/usage.ts";
import type { Json } from "../../util/json.ts";
import type { RecordedRun } from "./eval-case.ts";

/** A call of a tool in a run that is evaluated. */
export interface EvaluatedCall {
  readonly tool: string;
  /** The arguments; the raw text if the model did not write JSON. */
  readonly arguments: Json;
  readonly status: ResultStatus;
  /** The text that the model was given. */
  readonly result: string;
  /** The agent that made the call, if it is one inside the evaluated agent. */
  readonly by?: string;
}

/** The end of one run of a case. */
export interface EvaluatedRun {
  /** The outcome of the run. */
  readonly outcome: Outcome["type"];
  /** The reason why there is no answer. */
  readonly error?: { readonly code: string; readonly message: string };
  /** The text of the answer; empty if there is none. */
  readonly answer: string;
  /** The answer as a value, if it is not a text. */
  readonly output?: Json;
  /** The calls, in the order in which they were decided, including those of agents inside. */
  readonly calls: readonly EvaluatedCall[];
  /** The turns, including those of agents inside, as usage and dollars do. */
  readonly turns: number;
  /** The tokens, including those of agents inside. */
  readonly usage: Usage;
  /** Dollars; left out if a model has no price. */
  readonly costUsd?: number;
  /** The milliseconds from the beginning of the run to its end. */
  readonly durationMs: number;
}

/** An expectation that does not hold, or that cannot be checked. */
export interface Failure {
  /** Its place in the case, like `calls[0]` or `answer.contains`. */
  readonly expectation: string;
  /** The reason, in words. */
  readonly message: string;
}

/** The verdict of the model that judged a run. */
export interface JudgeVerdict {
  /** True if the run meets what the judge was asked. */
  readonly passes: boolean;
  /** The judge's reason. */
  readonly reason: string;
  /** True if it fails no run. */
  readonly advisory: boolean;
}

/** A run of a case, compared with the expectations. */
export interface RunReport extends EvaluatedRun {
  /** True if no expectation failed. */
  readonly passed: boolean;
  /** The expectations that failed. */
  readonly failures: readonly Failure[];
  /** The judge's verdict, if one was asked. */
  readonly verdict?: JudgeVerdict;
  /** The replies of the models, if the evaluation keeps them. */
  readonly recorded?: RecordedRun;
  /** True if recorded replies answer other requests than the run made: the agent has changed since. */
  readonly outdated?: boolean;
}

/** A case with its runs. `not-run` if the evaluation was stopped before all of them had ended. */
export interface CaseReport {
  /** The name of the case. */
  readonly name: string;
  /** The file of the case; left out if it was given as a value. */
  readonly file?: string;
  /** `passed` if at least the share of `atLeast` passed. */
  readonly status: "passed" | "failed" | "not-run";
  /** The number of runs that the case asks for. */
  readonly wanted: number;
  /** The share of the runs that must pass, from 0 to 1. */
  readonly atLeast: number;
  /** The number of runs that passed. */
  readonly passedRuns: number;
  /** The runs that ended. */
  readonly runs: readonly RunReport[];
}

/** The end of an evaluation. */
export interface EvalReport {
  /** The name of the agent. */
  readonly agent: string;
  /** True if all cases passed. */
  readonly passed: boolean;
  /** The number of cases with each status. */
  readonly counts: { readonly passed: number; readonly failed: number; readonly notRun: number };
  /** The cases, in the given order. */
  readonly cases: readonly CaseReport[];
  /** The usage of all runs, without the judge's. */
  readonly usage: Usage;
  /** Dollars; left out if a model has no price. */
  readonly costUsd?: number;
  /** The milliseconds from the first case to the last. */
  readonly durationMs: number;
}

/** A failed expectation on one line: its place, and the reason. */
export function failureLine({ expectation, message }: Failure): string {
  return `${expectation}: ${message}`;
}
