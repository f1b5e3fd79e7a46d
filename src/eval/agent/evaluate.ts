import { resolveModel } from "../../adapters/model/resolve.ts";
import type { ModelSource } from "../../agent/definition.ts";
import type { Runnable } from "../../agent/runnable.ts";
import { checkArguments, checkShape, closed } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import {
  anything,
  boolean,
  callable,
  list,
  optional,
  record,
  type Shape,
  shapeOf,
} from "../../util/shape.ts";
import { addUsage, noUsage } from "../../message/usage.ts";
import type { EvalCase } from "./eval-case.ts";
import type { CaseReport, EvalReport, RunReport } from "./eval-report.ts";
import { evaluable } from "./evaluable.ts";
import { playOnce } from "./play.ts";
import { prepareCases, type PreparedCase } from "./prepare.ts";
import type { LocatedCase } from "./read-cases.ts";

/** Options of an evaluation. */
export interface EvalOptions {
  /** The model that replaces the agent's own. Scripts and recordings of cases come before it. */
  readonly model?: ModelSource;
  /** The model that judges if a case names none. */
  readonly judge?: ModelSource;
  /**
   * The number of runs at a time, of all cases together. Default 2: providers limit requests, and a model on this
   * machine answers few at a time.
   */
  readonly concurrency?: number;
  /** The number of runs of each case that does not set it. Default 1. */
  readonly runs?: number;
  /**
   * Calls of tools that change something (`write`, `irreversible`) are carried out if a case has no result
   * for them. Default: they fail the run.
   */
  readonly allowEffects?: boolean;
  /** Keeps the replies of the models in the report. Default: not kept. */
  readonly record?: boolean;
  /** Stops the evaluation: runs that have not ended do not count, and the report has the others. */
  readonly signal?: AbortSignal;
  /** Called with each case when its last run has ended; of several at a time, the fastest comes first. */
  readonly onCase?: (report: CaseReport) => void;
}

const fields: { readonly [Field in keyof Required<EvalOptions>]: Shape<unknown> } = {
  model: anything,
  judge: anything,
  concurrency: anything,
  runs: anything,
  allowEffects: optional(boolean),
  record: optional(boolean),
  signal: anything,
  onCase: optional(callable),
};
const optionsShape = closed(fields);
const runnable = shapeOf("an agent", (value) => typeof Object(value).run === "function");

/**
 * Runs an agent on cases and compares the runs with their expectations: the real agent with its policy,
 * budget and hooks, with tools that have a fixed result replaced, and a memory that is empty in each run.
 * Cases are checked before the first run.
 *
 * Does not throw for a run that fails: its report has the reason.
 *
 * @throws WritError `eval-cases-invalid` with everything that is wrong with the cases, `option-invalid`,
 * `definition-invalid` for an unknown option and for cases that are not a list, `model-invalid`, `model-name-invalid`
 * @example
 * ```ts
 * import { agent, tool } from "writ";
 * import { evaluate } from "writ/eval";
 * import { z } from "zod";
 *
 * const add = tool({
 *   name: "add",
 *   description: "Add two numbers: a + b",
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   effect: "none",
 *   execute: ({ a, b }) => a + b,
 * });
 * const calculator = agent({ name: "calculator", model: "ollama/qwen2.5:7b", tools: [add] });
 *
 * const report = await evaluate(calculator, [
 *   {
 *     name: "adds with its tool",
 *     input: "What is 3 + 5?",
 *     expect: { answer: { contains: "8" }, calls: [{ tool: "add", with: { a: 3, b: 5 } }], atMost: { turns: 2 } },
 *   },
 * ]);
 * console.log(report.passed, report.cases[0]?.runs[0]?.failures);
 * ```
 */
export async function evaluate(
  agent: Pick<Runnable, "name" | "run">,
  cases: readonly EvalCase[],
  options: EvalOptions = {},
): Promise<EvalReport> {
  checkArguments("evaluate()", { agent, cases }, { agent: runnable, cases: list(record, "a list of cases") });
  checkShape("evaluate()", options, optionsShape);
  const located = cases.map((fields, index): LocatedCase => {
    const where = fields.file ?? `case ${index + 1}`;
    return { fields, where, lineOf: () => undefined };
  });
  return evaluateLocated(agent, located, options);
}

/**
 * The same with cases whose fields have known places. With `offline`, every case must be playable
 * without a model.
 */
export async function evaluateLocated(
  agent: Pick<Runnable, "name" | "run">,
  cases: readonly LocatedCase[],
  options: EvalOptions & { readonly offline?: boolean },
): Promise<EvalReport> {
  const { judge, allowEffects = false, record = false, offline = false, signal, onCase } = options;
  const concurrency = countIn("concurrency", options.concurrency, 2);
  const runs = countIn("runs", options.runs, 1);
  const model = options.model === undefined ? undefined : resolveModel(options.model, agent.name);
  const looked = evaluable(agent);
  const prepared = await prepareCases(cases, { agent: looked, judge, model, offline, record, runs });
  const startedAt = performance.now();
  const progress = prepared.map((one) => new CaseProgress(one, runs));
  const jobs = jobsOf(progress);
  const count = progress.reduce((sum, { wanted }) => sum + wanted, 0);
  const play = { agent: looked, model, allowEffects, record, signal };
  const isStopped = (): boolean => signal?.aborted === true;
  const work = async (): Promise<void> => {
    for (const { each, index } of jobs) {
      if (isStopped()) return;
      const report = await playOnce(each.prepared, index, play);
      if (isStopped()) return;
      each.ended[index] = report;
      if (each.isDone()) onCase?.(each.report());
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, work));
  const reports = progress.map((each) => each.report());
  return {
    agent: agent.name,
    ...summary(reports),
    cases: reports,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/** The runs of all cases, one after another. Each is made only when its turn comes, because many may be wanted. */
function* jobsOf(cases: readonly CaseProgress[]): Generator<{ each: CaseProgress; index: number }> {
  for (const each of cases) for (let index = 0; index < each.wanted; index += 1) yield { each, index };
}

/** A case while its runs go on. */
class CaseProgress {
  readonly prepared: PreparedCase;
  readonly wanted: number;
  /** The reports by index; a run that has not ended is missing. */
  readonly ended: (RunReport | undefined)[] = [];

  constructor(prepared: PreparedCase, runs: number) {
    this.prepared = prepared;
    this.wanted = prepared.fields.runs ?? runs;
  }

  isDone(): boolean {
    return this.#runs().length === this.wanted;
  }

  report(): CaseReport {
    const { name, file, atLeast = 1 } = this.prepared.fields;
    const runs = this.#runs();
    const passedRuns = runs.filter(({ passed }) => passed).length;
    const hasPassed = passedRuns >= atLeast * this.wanted - 1e-9; // 0.7 * 10 is more than 7
    const status = this.isDone() ? (hasPassed ? "passed" : "failed") : "not-run";
    return {
      name,
      ...(file === undefined ? {} : { file }),
      status,
      wanted: this.wanted,
      atLeast,
      passedRuns,
      runs,
    };
  }

  #runs(): RunReport[] {
    return this.ended.filter((run) => run !== undefined);
  }
}

function summary(cases: readonly CaseReport[]): Omit<EvalReport, "agent" | "cases" | "durationMs"> {
  const count = (status: CaseReport["status"]): number => cases.filter((one) => one.status === status).length;
  const counts = { passed: count("passed"), failed: count("failed"), notRun: count("not-run") };
  const runs = cases.flatMap((one) => one.runs);
  const usage = runs.reduce((sum, run) => addUsage(sum, run.usage), noUsage);
  const costs = runs.map(({ costUsd }) => costUsd);
  const costUsd = costs.includes(undefined)
    ? {}
    : { costUsd: costs.reduce<number>((a, b) => a + (b ?? 0), 0) };
  return { passed: counts.passed === cases.length, counts, usage, ...costUsd };
}

/** @throws WritError `option-invalid` */
function countIn(option: string, value: number | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new WritError("option-invalid", {
    option,
    value: String(value),
    advice: "Give a whole number from 1 on.",
  });
}
