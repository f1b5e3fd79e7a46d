/**
 * Compares writ's judge with the leaderboard's own checker, over the calls that writ finds in recorded outputs:
 *
 *     npx node lab/compare-judges.ts --package <folder that has bfcl_eval> --data <recorded outputs> [--cases <folder>] [--python <program>]
 *
 * The package is `bfcl-eval` of PyPI, unpacked: nothing of it needs to be installed. Exits with 1 when a verdict differs that is not explained
 * by the types of numbers, with 0 and a word when the package is not there.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { JudgedOutput } from "./bfcl/judge.ts";
import { isRestraint } from "./bfcl/categories.ts";
import { replay } from "./replay.ts";

const { values } = parseArgs({
  options: {
    package: { type: "string" },
    data: { type: "string" },
    cases: { type: "string" },
    python: { type: "string", default: "python3" },
  },
});
const { package: folder, data, python } = values;
if (folder === undefined || data === undefined) {
  console.error("Give --package and --data.");
  process.exitCode = 2;
} else if (existsSync(join(folder, "bfcl_eval"))) {
  process.exitCode = compare(folder, data);
} else {
  console.log(`skipped: ${folder} has no bfcl_eval`);
}

function compare(folder: string, data: string): number {
  const cases = values.cases ?? join(dirname(resolve(data)), "bfcl");
  const judged: JudgedOutput[] = [];
  replay({
    data,
    cases,
    mode: "safe",
    onJudged: (each) => {
      if (!isRestraint(each.test.category)) judged.push(each);
    },
  });
  const verdicts = officialVerdicts({ folder, cases, judged });
  const counts = { bothRight: 0, bothWrong: 0, differByNumbers: 0, differ: 0 };
  for (const [index, { by, test, calls, wrong }] of judged.entries()) {
    const [asTheyAre, typed] = verdicts[index] ?? [];
    const isRight = wrong === undefined;
    if (asTheyAre === isRight) counts[isRight ? "bothRight" : "bothWrong"] += 1;
    else if (typed === isRight) counts.differByNumbers += 1;
    else {
      counts.differ += 1;
      console.log(
        `${by} ${test.id}: ${wrong ?? "right"}, the checker says otherwise: ${JSON.stringify(calls)}`,
      );
    }
  }
  console.log(counts);
  return counts.differ === 0 ? 0 : 1;
}

interface Compared {
  readonly folder: string;
  readonly cases: string;
  readonly judged: readonly JudgedOutput[];
}

function officialVerdicts({ folder, cases, judged }: Compared): [boolean, boolean][] {
  const lines = judged.map(({ test: { category, id }, calls }) =>
    JSON.stringify({
      category,
      id,
      calls: calls.map(({ name, arguments: args }) => ({ [name]: args })),
    }),
  );
  const program = join(import.meta.dirname, "official-judge.py");
  const { status, stdout, stderr } = spawnSync(python, [program, folder, cases], {
    input: lines.join("\n"),
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`the checker failed: ${stderr}`);
  return stdout
    .trim()
    .split("\n")
    .map((line): [boolean, boolean] => JSON.parse(line));
}
