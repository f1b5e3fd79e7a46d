/**
 * Runs the tests again and again while other processes keep every core busy, and prints which of them failed in which run: npm run test:load --
 * --runs 10 [--nice 5] [--burners 2] [test/unit/policy …]. A test that fails now and then measures the machine. Told are also the
 * tests that came near to the end of their time: they are the next to fail. Ends with 1 when one failed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./source-files.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "10" },
    nice: { type: "string", default: "5" },
    burners: { type: "string", default: String(availableParallelism()) },
  },
});

interface Run {
  readonly seconds: number;
  readonly passed: number;
  /** The names of tests, and of files that could not be loaded. */
  readonly failed: readonly string[];
  /** Tests that took longer than half of the time that a test has, with their seconds. */
  readonly slow: ReadonlyMap<string, number>;
}

/** Half of the time of a test in vitest.config.ts. */
const slowMs = 60_000;

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly duration?: number | null;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

// Register: the test run that ends with this process.
let running: ChildProcess | undefined;

/** Runs the tests once, and prints at once what failed, because a long series may be stopped. A run without a report has failed as a whole. */
async function runOnce(report: string): Promise<Run> {
  rmSync(report, { force: true });
  const began = performance.now();
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const options = ["--reporter=json", `--outputFile=${report}`];
  const { CI: _, ...env } = process.env; // no second try; a library of models refuses an empty CI
  const child = spawn(process.execPath, [vitest, "run", ...options, ...positionals], {
    cwd: root,
    env,
    stdio: "ignore",
  });
  running = child;
  const [code] = await once(child, "exit");
  const seconds = Math.round((performance.now() - began) / 1000);
  if (!existsSync(report))
    return { seconds, passed: 0, failed: ["the whole run: there is no report"], slow: new Map() };
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const named = testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.slice(root.length + 1);
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (status === "failed" && failed.length === 0) return [`${file}: the file itself`];
    for (const { fullName, failureMessages = [] } of failed) console.error(fullName, ...failureMessages);
    return failed.map(({ fullName }) => `${file}: ${fullName}`);
  });
  if (code !== 0 && named.length === 0) named.push("the whole run: an error outside of its tests");
  const slow = new Map(
    tests.flatMap(({ fullName, duration }) =>
      (duration ?? 0) > slowMs ? [[fullName, Math.round((duration ?? 0) / 1000)] as const] : [],
    ),
  );
  return { seconds, passed: tests.filter(({ status }) => status === "passed").length, failed: named, slow };
}

const runs = Number(values.runs);
const folder = mkdtempSync(join(tmpdir(), "writ-load-"));
const burners = Array.from({ length: Number(values.burners) }, () => {
  const burner = spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" });
  if (burner.pid !== undefined) setPriority(burner.pid, Number(values.nice));
  return burner;
});
process.once("exit", () => {
  running?.kill("SIGTERM");
  for (const burner of burners) burner.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

console.log(`${runs} runs beside ${burners.length} processes that never rest, nice ${values.nice}`);
console.log("| run | seconds | passed | failed |\n|--:|--:|--:|--:|");
const done: Run[] = [];
for (let number = 1; number <= runs; number += 1) {
  const run = await runOnce(join(folder, "report.json"));
  done.push(run);
  console.log(`| ${number} | ${run.seconds} | ${run.passed} | ${run.failed.length} |`);
}

const failures = Map.groupBy(
  done.flatMap(({ failed }, index) => failed.map((name) => ({ name, run: index + 1 }))),
  ({ name }) => name,
);
if (failures.size > 0) console.log("\n| failed test | in runs |\n|---|---|");
for (const [name, those] of failures)
  console.log(`| ${name.replaceAll("|", "\\|")} | ${those.map(({ run }) => run).join(", ")} |`);
const slowest = new Map<string, number>();
for (const { slow } of done)
  for (const [name, seconds] of slow) slowest.set(name, Math.max(seconds, slowest.get(name) ?? 0));
if (slowest.size > 0) console.log("\n| slow test | seconds at most |\n|---|--:|");
for (const [name, seconds] of [...slowest].toSorted(([, one], [, other]) => other - one))
  console.log(`| ${name.replaceAll("|", "\\|")} | ${seconds} |`);
const clean = done.filter(({ failed, passed }) => failed.length === 0 && passed > 0).length;
console.log(`\n${clean} of ${runs} runs without a failure`);
process.exitCode = clean === runs ? 0 : 1;
process.exit();
