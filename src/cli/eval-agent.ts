import { existsSync } from "node:fs";
import { access, constants, open, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { modelNamed } from "../adapters/model/resolve.ts";
import { messageOf, WritError } from "../error/writ-error.ts";
import type { Model } from "../model/model.ts";
import { evaluateLocated } from "../eval/agent/evaluate.ts";
import type { CaseReport, EvalReport } from "../eval/agent/eval-report.ts";
import { junitXml } from "../eval/agent/junit.ts";
import { type LocatedCase, readLocatedCases } from "../eval/agent/read-cases.ts";
import { recordedPath, withRecordings, writeRecordings } from "../eval/agent/recordings.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { caseText, summaryText } from "./eval-agent-text.ts";
import { listenForInterrupts } from "./interrupts.ts";
import { checkFile, loadAgent } from "./load-agent.ts";
import { countOf } from "./options.ts";
import { jsonLine, oneLine, printable, processOutput } from "./output.ts";
import { writing } from "./writing.ts";

/** The options of `writ eval agent`, as they stand on the command line. */
export interface EvalAgentFlags {
  readonly cases: string;
  readonly only?: string;
  readonly model?: string;
  readonly judge?: string;
  readonly tools?: string;
  readonly runs?: string;
  readonly concurrency?: string;
  readonly record?: boolean;
  readonly replay?: boolean;
  readonly allowEffects?: boolean;
  readonly junit?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/**
 * `writ eval agent <file> --cases <folder>`: prints the cases on standard output, each when it has ended, in
 * their order. Exits with 1 if a case failed, and after Ctrl-C with 130 and the cases so far.
 *
 * @throws WritError for everything that is wrong before the first run: options, the agent's file, cases
 */
export async function evalAgent(file: string, flags: EvalAgentFlags): Promise<ExitCode> {
  const { tools, record, replay, allowEffects, json = false } = flags;
  checkModes(flags);
  const model = modelOf("--model", flags.model);
  const judge = modelOf("--judge", flags.judge);
  const runs = countOf("--runs", flags.runs ?? "1");
  const concurrency = countOf("--concurrency", flags.concurrency ?? "2");
  checkFile(file);
  if (flags.junit !== undefined) await checkWritable("--junit", flags.junit);
  const read = chosen(await readLocatedCases(flags.cases), flags.only);
  const cases = replay === true ? await withRecordings(read) : read;
  if (record === true) {
    for (const path of new Set(read.map(({ where }) => recordedPath(where))))
      await checkWritable("--record", path);
    await withRecordings(read); // recordings of other cases are kept: an unreadable one is reported before a model is asked
  }
  const agent = await loadAgent(file, { tools, model: replay === true ? neverAsked : model });
  const interrupts = listenForInterrupts(processOutput);
  const { signal } = interrupts;
  const { onCase, tellRest } = json ? silent : teller(cases, flags);
  try {
    const how = { model, judge, runs, concurrency, allowEffects, record, signal, onCase };
    const report = await evaluateLocated(agent, cases, { ...how, offline: replay });
    tellRest(report.cases);
    await tell(report, flags);
    if (signal.aborted) return exitCodes.interrupted;
    return report.passed ? exitCodes.answered : exitCodes.failed;
  } finally {
    interrupts.stopListening();
  }
}

/** A model for definitions that name none: a replay replaces it with the recording. */
const neverAsked = "ollama/recorded";

/** Prints cases in their order. */
interface Teller {
  readonly onCase: (report: CaseReport) => void;
  /** Prints the cases that were not printed yet: those that were stopped, and those that ended after them. */
  readonly tellRest: (reports: readonly CaseReport[]) => void;
}

const silent: Teller = { onCase: () => undefined, tellRest: () => undefined };

/** @throws WritError `option-invalid` for options that contradict each other */
function checkModes({ replay, record, model, judge }: EvalAgentFlags): void {
  if (replay !== true) return;
  const advice = "With --replay no model is asked: recorded replies are played.";
  if (record === true) throw new WritError("option-invalid", { option: "--record", value: "true", advice });
  if (model !== undefined) throw new WritError("option-invalid", { option: "--model", value: model, advice });
  if (judge !== undefined) throw new WritError("option-invalid", { option: "--judge", value: judge, advice });
}

/** @throws WritError `option-invalid` for a name that no provider has */
function modelOf(option: string, name: string | undefined): Model | undefined {
  try {
    return name === undefined ? undefined : modelNamed(name);
  } catch (cause) {
    throw new WritError("option-invalid", { option, value: name ?? "", advice: messageOf(cause) }, { cause });
  }
}

/** The cases whose names contain a text, in upper or lower case. */
function chosen(cases: readonly LocatedCase[], only: string | undefined): readonly LocatedCase[] {
  if (only === undefined) return cases;
  const found = cases.filter(({ fields }) => fields.name.toLowerCase().includes(only.toLowerCase()));
  if (found.length > 0) return found;
  const names = cases.map(({ fields }) => fields.name).join(", ");
  throw new WritError("option-invalid", {
    option: "--only",
    value: only,
    advice: `The cases are: ${names}.`,
  });
}

/** Prints each case as soon as those before it are printed. */
function teller(cases: readonly LocatedCase[], { verbose = false }: EvalAgentFlags): Teller {
  const names = cases.map(({ fields }) => fields.name);
  const waiting = new Map<string, CaseReport>();
  let told = 0;
  const tell = (report: CaseReport): void => {
    told += 1;
    void processOutput.answer(caseText(report, { names, verbose, output: processOutput }));
  };
  return {
    onCase(report) {
      waiting.set(report.name, report);
      for (
        let ready = waiting.get(names[told] ?? "");
        ready !== undefined;
        ready = waiting.get(names[told] ?? "")
      )
        tell(ready);
    },
    tellRest: (reports) => reports.slice(told).forEach(tell),
  };
}

async function tell(
  report: EvalReport,
  { json = false, junit, record = false, verbose = false }: EvalAgentFlags,
): Promise<void> {
  if (json) await processOutput.answer(jsonLine({ type: "eval-agent", ...withoutRecordings(report) }));
  else await processOutput.answer(summaryText(report, { verbose, output: processOutput }));
  if (record) await tellRecorded(report);
  if (junit !== undefined)
    await writing({ option: "--junit", path: junit }, () => writeFile(junit, junitXml(report)));
}

async function tellRecorded(report: EvalReport): Promise<void> {
  for (const path of await writeRecordings(report))
    processOutput.progress(printable(`${path} holds the replies.\n`));
  for (const { name, status, runs } of report.cases)
    if (status !== "not-run" && runs.some(({ recorded }) => recorded === undefined))
      processOutput.progress(`${oneLine(name)}: nothing was recorded, because a model gave no answer.\n`);
}

function withoutRecordings(report: EvalReport): EvalReport {
  const cases = report.cases.map((one) => ({
    ...one,
    runs: one.runs.map(({ recorded: _recorded, ...run }) => run),
  }));
  return { ...report, cases };
}

/** Checks before the first run, which costs money, that a report can be written. Makes no file. */
async function checkWritable(option: string, path: string): Promise<void> {
  await writing({ option, path }, async () => {
    if (existsSync(path)) await (await open(path, "r+")).close();
    else await access(dirname(path), constants.W_OK);
  });
}
