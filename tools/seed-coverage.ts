/**
 * Writes docs/coverage.md: which test proves what of the systems that writ unites. The rows and acceptance cases are in
 * docs/coverage/rows.json, the claims in the names of the tests, the results in coverage/tests.json (tools/count-reporter.ts keeps the
 * last run of all files there). With --run the tests run first. With --check nothing is written; it is silent when the page is up to date.
 * Exits with 1, with --check too, when a promise of an [M] row that is due has no passing test and is not `open`, and when a test names what
 * does not exist, or a whole [M] row.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Covered,
  coverageOf,
  type Entry,
  faultsOf,
  summaryOf,
  type TestRecord,
  unknownClaims,
} from "./seed-claims.ts";
import { pageOf } from "./seed-page.ts";
import { root } from "./source-files.ts";

const page = join(root, "docs/coverage.md");
const results = join(root, "coverage/tests.json");

function fail(complaints: readonly string[]): void {
  if (complaints.length === 0) return;
  console.error(complaints.join("\n"));
  process.exitCode = 1;
}

function runTests(): void {
  rmSync(results, { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { status } = spawnSync(process.execPath, [vitest, "run"], { cwd: root, stdio: "inherit" });
  if (status !== 0) fail(["Not all tests pass."]);
}

/** What the page has and the tests do not say, and the other way round. */
function differences(): string[] {
  const kept = existsSync(page) ? readFileSync(page, "utf8").split("\n") : [];
  const made = pageOf(covered).split("\n");
  const gone = kept.filter((line) => !made.includes(line)).map((line) => `- ${line}`);
  const come = made.filter((line) => !kept.includes(line)).map((line) => `+ ${line}`);
  if (gone.length + come.length === 0) return [];
  return ["docs/coverage.md is out of date. Run: npm run coverage:seeds", ...gone, ...come];
}

function write(): void {
  writeFileSync(page, pageOf(covered));
  console.log(summaryOf(covered));
}

function readResults(): readonly TestRecord[] {
  if (existsSync(results)) return JSON.parse(readFileSync(results, "utf8")) as readonly TestRecord[];
  throw new Error("There are no results of a run of all tests. Run: npm test");
}

if (process.argv.includes("--run")) runTests();
const { rows, cases } = JSON.parse(readFileSync(join(root, "docs/coverage/rows.json"), "utf8")) as {
  readonly rows: readonly Entry[];
  readonly cases: readonly Entry[];
};
const entries = [...rows, ...cases];
const tests = readResults();
const covered: readonly Covered[] = coverageOf(tests, entries);
fail([...unknownClaims(tests, entries), ...faultsOf(covered)]);
if (process.argv.includes("--check")) fail(differences());
else write();
