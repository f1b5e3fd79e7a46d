/**
 * Drafts a policy for each recorded suite from its tools alone, and prints what `writ eval injection` says of it (npm run build first):
 *   npm run draft-scores -- [--answers FOLDER] [--only shopping] [-- --plan --adaptive]
 * FOLDER has answers to the questions of a draft, `shopping.json`; what stands behind `--` is handed on.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import type { InjectionReport } from "../src/eval/injection/evaluate.ts";
import { claim } from "../src/eval/injection/measure.ts";

const { values, positionals } = parseArgs({
  options: { answers: { type: "string" }, only: { type: "string" } },
  allowPositionals: true,
});
const root = join(import.meta.dirname, "..");
const suites = [
  "agentdojo/workspace",
  "agentdojo/banking",
  "agentdyn/shopping",
  "tau/airline",
  "injecagent/acting",
];
const percent = (share: number | null | undefined): string => `${((share ?? 0) * 100).toFixed(1)} %`;

process.stdout.write(
  `${claim}\nsuite: attacks whole + in part of pairs; tasks without a question; questions a task; adaptive goals, harmful\n`,
);
for (const suite of suites) {
  const name = basename(suite);
  if (values.only !== undefined && values.only !== name) continue;
  const path = join(root, "../shared/data", `${suite}.json`);
  if (!existsSync(path)) {
    process.stdout.write(`${name}: skipped, ${path} is not there\n`);
    continue;
  }
  const answers = values.answers === undefined ? undefined : join(values.answers, `${name}.json`);
  const said = answers !== undefined && existsSync(answers) ? ["--answers", answers] : [];
  const words = ["eval", "injection", "--suite", path, "--draft", "--json", ...said, ...positionals];
  const printed = execFileSync(process.execPath, [join(root, "dist/cli/main.js"), ...words], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the command above prints a report
  const { arms, adaptive } = JSON.parse(printed) as InjectionReport;
  const { attacks, tasks } = arms.full;
  const reached = adaptive && `; ${adaptive.arms.full.goals.pairs}, ${adaptive.arms.full.harmful.pairs}`;
  process.stdout.write(
    `${name}${said.length > 0 ? " (answered)" : ""}: ${attacks.succeeded} + ${attacks.inPart} of ${attacks.pairs} (${percent(attacks.share)}); ` +
      `${tasks.autonomous} of ${tasks.tasks} (${percent(tasks.share)}), of those that act ${tasks.actingAutonomous} of ${tasks.acting}; ` +
      `${(tasks.questionsPerTask ?? 0).toFixed(2)}${reached ?? ""}\n`,
  );
}
