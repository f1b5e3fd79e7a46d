import { existsSync } from "node:fs";
import { modelNamed } from "../../src/adapters/model/resolve.ts";
import { modelFromFunction } from "../../src/model/function-model.ts";
import type { Model } from "../../src/model/model.ts";
import { messageOf } from "../../src/error/writ-error.ts";
import { type BfclCase, openCases } from "../bfcl/cases.ts";
import { bfclCategories, type BfclCategory } from "../bfcl/categories.ts";
import { sampled, sampleParts, type SamplePart } from "../bfcl/sample.ts";
import { withheld } from "../bfcl/withheld.ts";
import { type LiveReport, runLive } from "../live.ts";
import { type DriverName, driverNames } from "../../src/model/driver-names.ts";
import { errorObject } from "../../src/cli/error-text.ts";
import { categoriesOf, showWrong } from "./words.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../../src/cli/exit-code.ts";
import { listenForInterrupts } from "../../src/cli/interrupts.ts";
import { countOf, listOf, wordOf } from "../../src/cli/options.ts";
import { countText, oneLine, processOutput, jsonLine } from "../../src/cli/output.ts";
import { percent, table } from "../../src/cli/table.ts";

/** The options of `eval bfcl`, as they stand on the command line. */
export interface LiveFlags {
  readonly model: string;
  readonly driver: string;
  readonly cases?: string;
  readonly categories?: string;
  readonly limit?: string;
  readonly sample?: string;
  readonly withhold?: boolean;
  readonly maxTokens?: string;
  readonly showFailures?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** The categories that are asked by default; those that begin with `live_` are for the end, when nothing is tuned any more. */
const usual = "simple_python,multiple,parallel,parallel_multiple,irrelevance";

/** Folders that are searched for the cases. */
const places = ["bfcl", "../shared/data/bfcl"] as const;

/** A driver with its figures, or with the reason why there are none. */
type Row = { readonly driver: string } & ({ readonly report: LiveReport } | { readonly error: unknown });

/**
 * `eval bfcl`: the figures on standard output, the progress and the failures on standard error. Ctrl-C ends it, with the figures of the
 * drivers that are through.
 *
 * @throws WritError `option-invalid`, `model-name-invalid`, `file-unreadable`; with one driver what the model's adapter
 * throws: with several it is told in the driver's place.
 */
export async function evalBfcl(flags: LiveFlags): Promise<ExitCode> {
  const { json = false, limit, maxTokens = "512", showFailures } = flags;
  const drivers = driversOf(flags.driver);
  const categories = categoriesOf(flags.categories ?? usual);
  const most = limit === undefined ? Infinity : countOf("--limit", limit);
  const settings = { temperature: 0, maxOutputTokens: countOf("--max-tokens", maxTokens) };
  const show =
    showFailures === undefined
      ? undefined
      : showWrong(countOf("--show-failures", showFailures), processOutput);
  const model = flags.model === "none" ? silent() : modelNamed(flags.model);
  const part = flags.sample === undefined ? undefined : wordOf("--sample", flags.sample, sampleParts);
  const drawn = casesOf(flags.cases, { categories, most, part });
  const cases = flags.withhold === true ? withheld(drawn) : drawn;
  const interrupts = listenForInterrupts(processOutput);
  const { signal } = interrupts;
  const rows: Row[] = [];
  try {
    for (const driver of drivers) {
      processOutput.progress(`${driver}: ${countText(cases.length, "case")}\n`);
      try {
        const report = await runLive({
          model,
          driver,
          cases,
          settings,
          signal,
          onJudged: show,
        });
        rows.push({ driver: driver, report });
      } catch (error) {
        if (signal.aborted) break;
        if (drivers.length === 1) throw error;
        rows.push({ driver: driver, error });
      }
    }
  } finally {
    interrupts.stopListening();
  }
  await processOutput.answer(json ? jsonOf(flags.model, rows) : textOf(rows));
  return exitCodeOfRows(rows, signal);
}

/** A model that cannot answer and costs nothing: a decision that a driver makes with it was made by the program. */
function silent(): Model {
  const features = { tools: false, small: true, completion: true, format: "grammar" } as const;
  return modelFromFunction(() => "I do not know.", { id: "none", features });
}

/** `all`, or the drivers by their names, separated by commas. */
function driversOf(value: string): readonly (DriverName | "auto")[] {
  if (value === "all") return driverNames;
  return listOf(value).map((name) => wordOf("--driver", name, ["auto", ...driverNames]));
}

function casesOf(
  given: string | undefined,
  {
    categories,
    most,
    part,
  }: {
    readonly categories: readonly BfclCategory[];
    readonly most: number;
    readonly part: SamplePart | undefined;
  },
): readonly BfclCase[] {
  const path = given ?? places.find((place) => existsSync(place)) ?? places[0];
  const folder = openCases(path, ({ path: file, line, reason }) =>
    processOutput.progress(`${oneLine(`${file}:${line}: ${reason}`)}\n`),
  );
  return categories.flatMap((category) => {
    const all = [...folder.read(category).values()];
    return (part === undefined ? all : sampled(all, part)).slice(0, most);
  });
}

function exitCodeOfRows(rows: readonly Row[], { aborted }: AbortSignal): ExitCode {
  if (aborted) return exitCodes.interrupted;
  if (rows.some((row) => "report" in row)) return exitCodes.answered;
  const [first] = rows;
  return first !== undefined && "error" in first ? exitCodeOf(first) : exitCodes.failed;
}

function jsonOf(model: string, rows: readonly Row[]): string {
  const drivers = rows.map((row) =>
    "report" in row
      ? { driver: row.driver, ...row.report, error: null }
      : { driver: row.driver, error: errorObject(row.error) },
  );
  return jsonLine({ type: "eval-bfcl", model, drivers });
}

function textOf(rows: readonly Row[]): string {
  const reports = rows.flatMap((row) => ("report" in row ? [row.report] : []));
  const names = bfclCategories.filter((name) =>
    reports.some(({ byCategory }) => byCategory[name] !== undefined),
  );
  const head = [
    "driver",
    ...names,
    "valid",
    "accuracy",
    "restraint",
    "mean",
    "tokens in",
    "out",
    "seconds",
    "cases",
  ];
  const cells = rows.map((row) => {
    if ("error" in row) return [row.driver, ...head.slice(1).map(() => "-")];
    const { report } = row;
    const shares = [...names.map((name) => report.byCategory[name]?.accuracy), report.valid];
    return [
      nameOf(row),
      ...[...shares, report.accuracy, report.restraint, report.mean].map(percent),
      String(report.usage.inputTokens),
      String(report.usage.outputTokens),
      report.seconds.toFixed(1),
      String(report.outputs),
    ];
  });
  const notes = rows.flatMap((row) => {
    if ("error" in row) return [`${row.driver}: ${oneLine(messageOf(row.error), 500)}`];
    const { skipped } = row.report;
    return skipped[0] === undefined
      ? []
      : [
          `${row.driver}: ${countText(skipped.length, "case")} skipped, the first: ${oneLine(skipped[0], 300)}`,
        ];
  });
  return `${table([head, ...cells], new Set(head.keys().filter((column) => column > 0)))}${notes.map((note) => `${note}\n`).join("")}`;
}

/** The name of a row, with the driver that was used where it is another one than was named. */
function nameOf({ driver, report }: Row & { readonly report: LiveReport }): string {
  const { drivers } = report;
  return drivers.length === 0 || (drivers.length === 1 && drivers[0] === driver)
    ? driver
    : `${driver} (${drivers.join(", ")})`;
}
