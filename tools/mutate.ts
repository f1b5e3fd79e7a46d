/**
 * Puts small faults into src, one at a time, and sees which of them no test notices: npm run mutate -- --count 60 --seed 1 [--only src/policy]
 * [--minutes 30]. It works in a copy in a temporary folder; the files here are never written to. Asked are the test files that reach the function
 * of the fault (tools/reach.ts), the nearest and quickest first; the first time all tests run once to find that out. A fault is noticed when a
 * test fails with it that passes without it. A fault that the compiler refuses counts neither way, and another is drawn. Some faults change
 * nothing that could be seen: a survivor is a question.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { fingerprint } from "../src/util/hash.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { reachIn, type Reaching, recorders } from "./reach.ts";
import { filesUnder, root } from "./source-files.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "src" },
    minutes: { type: "string", default: "600" },
  },
});

type Verdict = "killed" | "timed out" | "survived";

const copied = [
  "src",
  "test",
  "tools",
  "lab",
  "examples",
  "docs",
  "dist",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "README.md",
];

/** The settings of the tests in the copy: the files that WRIT_TESTS names run, in that order. */
const settings = `
import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";
const include = JSON.parse(process.env.WRIT_TESTS);
const place = ({ moduleId }) => include.indexOf(relative(import.meta.dirname, moduleId));
class AsGiven extends BaseSequencer {
  sort = async (files) => files.toSorted((one, other) => place(one) - place(other));
}
export default { test: { include, testTimeout: 20_000, sequence: { sequencer: AsGiven }, setupFiles: "./reach-setup.mjs" } };
`;

/** A copy of the repository in which files may be broken. */
function makeCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-mutate-"));
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  for (const [name, text] of Object.entries({ ...recorders, "vitest.config.ts": settings }))
    writeFileSync(join(folder, name), text);
  return folder;
}

/**
 * The faults in an order of the seed. The place of each depends on itself alone, so that the same seed draws the same faults after other code was
 * changed: what survived can be drawn again once it has a test.
 */
function shuffled(all: readonly Mutation[], seed: number): Mutation[] {
  const alike = new Map<string, number>();
  return all
    .map((mutation) => {
      const name = `${mutation.path} ${mutation.change}`;
      const earlier = alike.get(name) ?? 0;
      alike.set(name, earlier + 1);
      return { mutation, at: fingerprint(`${seed} ${name} ${earlier}`).padStart(11, "0") };
    })
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .map(({ mutation }) => mutation);
}

/** Builds the program of the copy. */
function build(): void {
  spawnSync(process.execPath, ["tools/bundle.ts"], { cwd: folder, stdio: "ignore" });
}

/** The compiler takes the src of the copy. What is left unused is no fault. */
function compiles(): boolean {
  const lenient = ["--noUnusedLocals", "false", "--noUnusedParameters", "false", "--allowUnreachableCode"];
  const options = ["-p", "tsconfig.build.json", "--noEmit", "--emitDeclarationOnly", "false", ...lenient];
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler, ...options], { cwd: folder, stdio: "ignore" }).status === 0;
}

/** Runs test files, one after another, and gives those that failed; undefined when their time was over: a fault can make a loop endless. */
function failing(
  files: readonly string[],
  milliseconds: number,
  more: readonly string[] = [],
): readonly string[] | undefined {
  const isRecording = process.env["WRIT_REACH"] !== undefined; // what is built records already
  if (!isRecording && files.some((file) => file.startsWith("test/e2e/"))) build();
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const options = ["--maxWorkers=1", "--reporter=json", `--outputFile=${report}`, ...more];
  const { error } = spawnSync(process.execPath, [vitest, "run", ...options], {
    cwd: folder,
    env: { ...process.env, WRIT_TESTS: JSON.stringify(files) },
    timeout: milliseconds,
    killSignal: "SIGKILL",
    stdio: "ignore",
  });
  if (error !== undefined) return undefined;
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    readonly testResults: readonly { readonly name: string; readonly status: string }[];
  };
  return testResults.filter(({ status }) => status === "failed").map(({ name }) => relative(folder, name));
}

/** The folders that two paths have in common from the beginning, that of the tests of a kind aside. */
function nearness(file: string, path: string): number {
  const there = path.split("/").slice(1, -1);
  const here = file.split("/").slice(2, -1);
  const apart = there.findIndex((name, index) => here[index] !== name);
  return apart === -1 ? there.length : apart;
}

/** A test file with what it costs to begin it. */
const beginning = 700;

/** The test files that reach a fault in groups that take longer and longer, the nearest and quickest first. */
function groupsOf({ path, start }: Mutation): readonly (readonly Reaching[])[] {
  const cost = ({ file, ms }: Reaching): number => ms / (1 + 4 * nearness(file, path));
  const sorted = reaching(path, start).toSorted((one, other) => cost(one) - cost(other));
  const groups: Reaching[][] = [[]];
  for (const one of sorted) {
    const last = groups.at(-1) ?? [];
    if (timeOf(last) > 5_000 * 3 ** (groups.length - 1)) groups.push([one]);
    else last.push(one);
  }
  return groups;
}

function timeOf(tests: readonly Reaching[]): number {
  return tests.reduce((sum, { ms }) => sum + ms + beginning, 0);
}

// Register: files of tests that pass without any fault, on a second look too.
const clean = new Set<string>();

/** The tests of a file fail without any fault, and say nothing about one. */
function failsAnyway(file: string): boolean {
  if (clean.has(file)) return false;
  if (failing([file], 240_000)?.length === 0) clean.add(file);
  return !clean.has(file);
}

/** What the tests say of a fault; undefined where the compiler refuses it. The file of the copy is whole again afterwards. */
function judge(mutation: Mutation): Verdict | undefined {
  const file = join(folder, mutation.path);
  const whole = readFileSync(file, "utf8");
  const broken = whole.slice(0, mutation.start) + mutation.text + whole.slice(mutation.end);
  writeFileSync(file, broken);
  try {
    if (!compiles()) return undefined;
    for (const group of groupsOf(mutation)) {
      writeFileSync(file, broken);
      const failed = failing(
        group.map((one) => one.file),
        30_000 + 6 * timeOf(group),
        ["--bail=1"],
      );
      writeFileSync(file, whole);
      if (failed === undefined) return "timed out";
      if (failed.some((test) => !failsAnyway(test))) return "killed";
    }
    return "survived";
  } finally {
    writeFileSync(file, whole);
  }
}

const all = filesUnder("src", ".ts")
  .filter(({ path }) => path.startsWith(values.only) && path !== "src/error/codes.ts")
  .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  .flatMap(mutationsOf);
const wanted = Number(values.count);
console.log(`${wanted} of ${all.length} faults, seed ${values.seed}`);
const folder = makeCopy();
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
const reaching = reachIn({ folder, build, run: failing });
const end = Date.now() + Number(values.minutes) * 60_000;
const verdicts: { readonly mutation: Mutation; readonly verdict: Verdict }[] = [];
let refused = 0;

for (const mutation of shuffled(all, Number(values.seed))) {
  if (verdicts.length === wanted || Date.now() > end) break;
  const verdict = judge(mutation);
  if (verdict === undefined) refused += 1;
  else verdicts.push({ mutation, verdict });
  console.log(`${(verdict ?? "refused").padEnd(9)} ${mutation.path}:${mutation.line} ${mutation.change}`);
}

const isNoticed = ({ verdict }: { readonly verdict: Verdict }): boolean => verdict !== "survived";
const sorted = verdicts.toSorted((one, other) => (one.mutation.path < other.mutation.path ? -1 : 1));
const byFolder = Map.groupBy(sorted, ({ mutation }) => mutation.path.split("/").slice(0, 2).join("/"));
for (const [name, those] of byFolder)
  console.log(`${name}: ${those.filter(isNoticed).length} of ${those.length} noticed`);
const survivors = verdicts.filter((one) => !isNoticed(one));
const share = Math.floor((100 * (verdicts.length - survivors.length)) / verdicts.length);
console.log(
  `${verdicts.length - survivors.length} of ${verdicts.length} noticed (${share} %), ${refused} refused by the compiler; survivors:`,
);
for (const { mutation } of survivors) console.log(`  ${mutation.path}:${mutation.line} ${mutation.change}`);
