import { dirname, join, resolve } from "node:path";
import { recogniserModes } from "../../src/driver/recognise/recognise.ts";
import { bfclCategories } from "../bfcl/categories.ts";
import { replay } from "../replay.ts";
import type { ReplayReport } from "../replay-score.ts";
import { categoriesOf, showWrong } from "./words.ts";
import { type ExitCode, exitCodes } from "../../src/cli/exit-code.ts";
import { countOf, listOf, wordOf } from "../../src/cli/options.ts";
import { countText, oneLine, processOutput, jsonLine } from "../../src/cli/output.ts";
import { percent, table } from "../../src/cli/table.ts";

/** The options of `eval replay`, as they stand on the command line. */
export interface ReplayFlags {
  readonly data: string;
  readonly cases?: string;
  readonly mode?: string;
  readonly models?: string;
  readonly categories?: string;
  readonly showFailures?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/**
 * `eval replay`: the figures on standard output; failures, and skipped lines and outputs, on standard error. Exits with 1 when reading threw.
 *
 * @throws WritError `option-invalid`, `file-unreadable`
 */
export async function evalReplay(flags: ReplayFlags): Promise<ExitCode> {
  const { data, cases, models, categories, showFailures, json = false } = flags;
  const mode = wordOf("--mode", flags.mode ?? "safe", recogniserModes);
  const report = replay({
    data,
    cases: cases ?? join(dirname(resolve(data)), "bfcl"),
    mode,
    ...(models === undefined ? {} : { models: listOf(models) }),
    ...(categories === undefined ? {} : { categories: categoriesOf(categories) }),
    ...(showFailures === undefined
      ? {}
      : { onJudged: showWrong(countOf("--show-failures", showFailures), processOutput) }),
  });
  for (const line of warningsOf(report)) processOutput.progress(`${line}\n`);
  await processOutput.answer(json ? jsonLine({ type: "eval-replay", ...report }) : textOf(report));
  return report.threw === 0 ? exitCodes.answered : exitCodes.failed;
}

function warningsOf({ passedOver, threw, thrown }: ReplayReport): string[] {
  const { broken, notJudged, unknownIds, repeatedIds } = passedOver;
  const [first] = broken;
  const others = Object.entries(notJudged).map(([category, count]) => `${count} of ${category}`);
  return [
    ...(first === undefined
      ? []
      : [
          `${countText(broken.length, "line")} cannot be used, the first: ${first.path}:${first.line}: ${first.reason}`,
        ]),
    ...(others.length === 0 ? [] : [`Outputs of categories that are not judged: ${others.join(", ")}`]),
    ...someOf("without a case", unknownIds),
    ...someOf("repeated for their case", repeatedIds),
    ...(threw === 0 ? [] : [`${threw} threw, the first: ${thrown[0] ?? ""}`]),
  ].map((line) => oneLine(line, 1000));
}

function someOf(what: string, ids: readonly string[]): string[] {
  const more = ids.length > 5 ? ", …" : "";
  return ids.length === 0
    ? []
    : [`${countText(ids.length, "output")} ${what}: ${ids.slice(0, 5).join(", ")}${more}`];
}

function textOf(report: ReplayReport): string {
  const { mode, byModel, byCategory, timing, outputs, threw } = report;
  const names = bfclCategories.filter((category) => Object.hasOwn(byCategory, category));
  const models = Object.entries(byModel);
  const rows = [
    ["", ...names, "accuracy", "restraint", "mean", "category mean", "official"],
    ...[...models, ["all models", report] as const].map(([name, score]) => [
      oneLine(name),
      ...names.map((category) => percent(score.byCategory[category]?.accuracy)),
      percent(score.accuracy),
      percent(score.restraint),
      percent(score.mean),
      percent(score.categoryMean),
      score.official === null
        ? ""
        : `${percent(score.official.accuracy)} / ${percent(score.official.restraint)}`,
    ]),
  ];
  const numbers = new Set(rows[0]?.keys().filter((column) => column > 0));
  const { texts, medianMs, p99Ms, maxMs } = timing;
  const times = [medianMs, p99Ms, maxMs].map((ms) => ms.toFixed(3));
  const meanings = [
    ["accuracy", report.accuracy, "right outputs of those that should call, mean over the models"],
    [
      "restraint",
      report.restraint,
      "outputs without a call of those that should have none, mean over the models",
    ],
    ["mean", report.mean, "of accuracy and restraint"],
    [
      "category mean",
      report.categoryMean,
      "accuracy with each category weighing the same, as on the leaderboard",
    ],
    ["official", report.official?.mean, "mean of accuracy / restraint of the leaderboard's own decoders"],
  ] as const;
  const told = meanings.map(([name, share, meaning]) => [name, percent(share), meaning]);
  return `${table(rows, numbers)}
${table(told, new Set([1]))}
${countText(models.length, "model")}, ${countText(outputs, "output")}, mode ${mode}, ${threw} threw
reading one of ${texts} texts took ${times[0]} ms (median), ${times[1]} ms (p99), ${times[2]} ms (longest)
`;
}
