/**
 * Evaluation of your own agents: cases as data, your expectations of answers, calls and cost, and a report.
 * On the command line, `writ eval agent` does the same.
 *
 * @module writ/eval
 */
export { evaluate, type EvalOptions } from "./eval/agent/evaluate.ts";
export { readCases } from "./eval/agent/read-cases.ts";
export {
  type CaseMessage,
  type CaseReply,
  type CostBounds,
  type EvalCase,
  type Expectations,
  type ExpectedAnswer,
  type ExpectedCall,
  type ExpectedJudgement,
  type FixedResult,
  type RecordedModel,
  type RecordedReply,
  type RecordedRun,
  type RunSnapshot,
} from "./eval/agent/eval-case.ts";
export {
  type CaseReport,
  type EvalReport,
  type EvaluatedCall,
  type EvaluatedRun,
  type Failure,
  type RunReport,
  type JudgeVerdict,
} from "./eval/agent/eval-report.ts";
