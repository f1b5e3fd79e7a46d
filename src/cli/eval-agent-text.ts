import { type CaseReport, type EvalReport, failureLine, type RunReport } from "../eval/agent/eval-report.ts";
import type { Usage } from "../message/usage.ts";
import { countText, durationText, oneLine, type Output } from "./output.ts";

/** Options of the printed text. */
interface TextOptions {
  /** Shows answers and verdicts also of cases that passed. */
  readonly verbose: boolean;
  readonly output: Output;
}

const longestName = 60;
const longestLine = 500;

const signs = { passed: ["✓", "green"], failed: ["✗", "red"], "not-run": ["-", "yellow"] } as const;

/** A case on one line, and under it the expectations that did not hold. */
export function caseText(
  report: CaseReport,
  { names, verbose, output }: TextOptions & { readonly names: readonly string[] },
): string {
  const { name, status, runs, wanted, passedRuns } = report;
  const width = Math.min(longestName, Math.max(...names.map((each) => oneLine(each, longestName).length)));
  const [sign, style] = signs[status];
  const share = wanted === 1 ? [] : [`${passedRuns} of ${wanted} runs`];
  const facts = status === "not-run" ? "not run to its end" : [...share, ...costTexts(runs)].join("  ");
  const head = `${output.styleAnswer(style, sign)} ${oneLine(name, longestName).padEnd(width)}  ${output.styleAnswer("dim", facts)}`;
  const lines = runs.flatMap((run, index) => runLines(run, { index, wanted, verbose }));
  return [head, ...lines.map((line) => `    ${line}`)].map((line) => `${line}\n`).join("");
}

interface RunPlace {
  readonly index: number;
  readonly wanted: number;
  readonly verbose: boolean;
}

function runLines(run: RunReport, { index, wanted, verbose }: RunPlace): string[] {
  const { failures, passed, answer, verdict } = run;
  const hasFailed = failures.length > 0;
  const prefix = wanted === 1 ? "" : `run ${index + 1}: `;
  const lines = failures.map((failure) => oneLine(`${prefix}${failureLine(failure)}`, longestLine));
  if (verdict?.advisory === true && !verdict.passes)
    lines.push(oneLine(`${prefix}judge, advisory: ${verdict.reason}`, longestLine));
  else if (verbose && verdict?.passes === true)
    lines.push(oneLine(`${prefix}judge: ${verdict.reason}`, longestLine));
  if ((hasFailed || verbose) && answer !== "")
    lines.push(oneLine(`${prefix}answer: ${answer}`, verbose ? longestLine : 200));
  return passed && !verbose && verdict?.advisory !== true ? [] : lines;
}

/** Turns, calls, tokens and time of the runs; of several runs the mean. */
function costTexts(runs: readonly RunReport[]): string[] {
  const mean = (of: (run: RunReport) => number): number =>
    runs.reduce((sum, run) => sum + of(run), 0) / Math.max(1, runs.length);
  return [
    meanText(
      mean(({ turns }) => turns),
      "turn",
    ),
    meanText(
      mean(({ calls }) => calls.length),
      "call",
    ),
    `${Math.round(mean(({ usage }) => tokensOf(usage)))} tokens`,
    durationText(mean(({ durationMs }) => durationMs)),
  ];
}

function meanText(value: number, thing: string): string {
  return Number.isInteger(value) ? countText(value, thing) : `${value.toFixed(1)} ${thing}s`;
}

/** The last line, and remarks about all cases. */
export function summaryText(report: EvalReport, { output }: TextOptions): string {
  const { counts, usage, costUsd, durationMs, cases } = report;
  const { passed, failed, notRun } = counts;
  const style = report.passed ? "green" : "red";
  const told = [`${passed} passed`, `${failed} failed`, ...(notRun === 0 ? [] : [`${notRun} not run`])];
  const cost = costUsd === undefined || costUsd === 0 ? "" : `, $${costUsd.toFixed(costUsd < 0.1 ? 4 : 2)}`;
  const about = usage.estimated === true ? "about " : "";
  const outdated = cases.filter(({ runs }) => runs.some((run) => run.outdated === true)).length;
  const stale =
    outdated === 0
      ? ""
      : `${countText(outdated, "case")} answered other requests when recorded: --record asks the model again\n`;
  const facts = `in ${durationText(durationMs)}, ${about}${tokensOf(usage)} tokens${cost}`;
  return `${output.styleAnswer("yellow", stale)}${output.styleAnswer(style, told.join(", "))} ${output.styleAnswer("dim", facts)}\n`;
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}
