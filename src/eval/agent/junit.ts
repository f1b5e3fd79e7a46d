import { type CaseReport, type EvalReport, failureLine, type RunReport } from "./eval-report.ts";

/**
 * An evaluation as JUnit XML for CI systems: a suite for the agent, and a test case for each case, with
 * its failed expectations and the last answer. A case whose runs did not all end is skipped; a case whose runs
 * broke before they could be judged is an error.
 */
export function junitXml({ agent, cases, counts, durationMs }: EvalReport): string {
  const errors = cases.filter(isBroken).length;
  const totals = {
    name: agent,
    tests: cases.length,
    failures: counts.failed - errors,
    errors,
    time: seconds(durationMs),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes(totals)}>`,
    `  <testsuite${attributes({ ...totals, skipped: counts.notRun })}>`,
    ...cases.flatMap((one) => caseLines(one, agent)),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function caseLines(report: CaseReport, agent: string): string[] {
  const { name, file = agent, status, runs } = report;
  const time = seconds(runs.reduce((sum, run) => sum + run.durationMs, 0));
  const head = `    <testcase${attributes({ name, classname: file, time })}`;
  const inside = [...endLines(report), ...outLines(runs)];
  return status === "passed" && inside.length === 0
    ? [`${head}/>`]
    : [`${head}>`, ...inside, "    </testcase>"];
}

function endLines(report: CaseReport): string[] {
  const { status, passedRuns, wanted, runs } = report;
  if (status === "passed") return [];
  if (status === "not-run") return ["      <skipped>the evaluation was stopped</skipped>"];
  const lines = runs.flatMap((run, index) =>
    run.failures.map((failure) => `${wanted === 1 ? "" : `run ${index + 1}: `}${failureLine(failure)}`),
  );
  const [first = ""] = lines;
  const message = wanted === 1 ? first : `${passedRuns} of ${wanted} runs passed; ${first}`;
  const error = runs.find((run) => run.error !== undefined)?.error;
  const [tag, type] = isBroken(report) ? ["error", error?.code ?? "failed"] : ["failure", "expectation"];
  return [`      <${tag}${attributes({ message, type })}>${escaped(lines.join("\n"))}</${tag}>`];
}

function outLines(runs: readonly RunReport[]): string[] {
  const answers = runs.flatMap(({ answer, verdict }) => [
    ...(answer === "" ? [] : [answer]),
    ...(verdict === undefined ? [] : [`judge: ${verdict.passes ? "passes" : "fails"}: ${verdict.reason}`]),
  ]);
  return answers.length === 0 ? [] : [`      <system-out>${escaped(answers.join("\n"))}</system-out>`];
}

/** True if every failed run broke: because of the provider, a script that was too short, or a mistake of the caller. */
function isBroken({ status, runs }: CaseReport): boolean {
  if (status !== "failed") return false;
  const failed = runs.filter(({ passed }) => !passed);
  return failed.every(({ outcome }) => outcome === "failed");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value)).replaceAll(/[\t\n\r]/g, " ")}"`)
    .join("");
}

/** Characters that an XML 1.0 document cannot contain in any form. */
const unwritable = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text
    .replaceAll(unwritable, "\uFFFD")
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
}
