/**
 * Puts small faults into src, one at a time, and sees which of them no test notices: npm run mutate -- --count 60 --seed 1 [--only src/policy]
 * [--minutes 30] [--wide]. It works in a copy in a temporary folder; the files here are never written to. Asked are the unit tests of the
 * fault's folder, then the acceptance tests, properties and cases that reach its file; with --wide all other unit and contract tests too. A fault
 * is noticed when a test fails with it that passes without it. Some faults change nothing that could be seen: a survivor is a question.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { randomFrom } from "../test/random.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { filesUnder, root } from "./source-files.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "src" },
    minutes: { type: "string", default: "600" },
    wide: { type: "boolean", default: false },
  },
});

type Verdict = "killed" | "timed out" | "survived";

/** Longest time of one run of tests, in milliseconds: a fault can make a loop endless. */
const longest = 240_000;
const copied = [
  "src",
  "test",
  "tools",
  "lab",
  "examples",
  "docs",
  "package.json",
  "tsconfig.json",
  "README.md",
];

/** A copy of the repository in which files may be broken. */
function makeCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-mutate-"));
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  for (const path of ["node_modules", "dist"]) symlinkSync(join(root, path), join(folder, path), "junction");
  writeFileSync(join(folder, "vitest.config.ts"), "export default { test: { testTimeout: 20_000 } };\n");
  return folder;
}

/** Some of the faults, the same ones for the same seed. */
function drawn(all: readonly Mutation[], count: number, seed: number): Mutation[] {
  const random = randomFrom(seed);
  const mixed = all
    .map((mutation) => ({ mutation, at: random() }))
    .toSorted((one, other) => one.at - other.at);
  return mixed.slice(0, count).map(({ mutation }) => mutation);
}

/** The files with tests that failed; undefined when the time of the run was over. */
function failing(folder: string, words: readonly string[]): readonly string[] | undefined {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const more = [
    "--passWithNoTests",
    "--bail=1",
    "--maxWorkers=1",
    "--reporter=json",
    `--outputFile=${report}`,
  ];
  const { error } = spawnSync(process.execPath, [vitest, ...words, "--run", ...more], {
    cwd: folder,
    timeout: longest,
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

/** The runs of tests that are asked about a fault, the nearest first. */
function stagesOf({ path }: Mutation): readonly (readonly string[])[] {
  const parts = path.split("/").slice(1, -1);
  const near = [parts, parts.slice(0, 1)].map((some) => ["test/unit", ...some].join("/"));
  const own = near.find((folder) => existsSync(join(root, folder)));
  const related = (folder: string): string[] => ["related", path, `--dir=${folder}`];
  const others = ["properties", "cases", ...(values.wide ? ["unit", "contract"] : [])].map((folder) =>
    related(`test/${folder}`),
  );
  return [...(own === undefined ? [] : [["run", `--dir=${own}`]]), related("test/acceptance"), ...others];
}

// Register: files of tests that pass without any fault.
const clean = new Set<string>();

/** The tests of a file fail without any fault, and say nothing about one. */
function failsAnyway(folder: string, file: string): boolean {
  if (clean.has(file)) return false;
  if (failing(folder, ["run", file])?.length === 0) clean.add(file);
  return !clean.has(file);
}

/** What the tests say of a fault. The file of the copy is whole again afterwards. */
function judge(folder: string, mutation: Mutation): Verdict {
  const file = join(folder, mutation.path);
  const whole = readFileSync(join(root, mutation.path), "utf8");
  const broken = whole.slice(0, mutation.start) + mutation.text + whole.slice(mutation.end);
  for (const stage of stagesOf(mutation)) {
    writeFileSync(file, broken);
    const failed = failing(folder, stage);
    writeFileSync(file, whole);
    if (failed === undefined) return "timed out";
    if (failed.some((test) => !failsAnyway(folder, test))) return "killed";
  }
  return "survived";
}

const all = filesUnder("src", ".ts")
  .filter(({ path }) => path.startsWith(values.only) && path !== "src/error/codes.ts")
  .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  .flatMap(mutationsOf);
const chosen = drawn(all, Number(values.count), Number(values.seed));
console.log(`${chosen.length} of ${all.length} faults, seed ${values.seed}`);
const end = Date.now() + Number(values.minutes) * 60_000;
const verdicts: { readonly mutation: Mutation; readonly verdict: Verdict }[] = [];
const folder = makeCopy();
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

for (const mutation of chosen) {
  if (Date.now() > end) break;
  const verdict = judge(folder, mutation);
  verdicts.push({ mutation, verdict });
  console.log(`${verdict.padEnd(9)} ${mutation.path}:${mutation.line} ${mutation.change}`);
}

const sorted = verdicts.toSorted((one, other) => (one.mutation.path < other.mutation.path ? -1 : 1));
const byFolder = Map.groupBy(sorted, ({ mutation }) => mutation.path.split("/").slice(0, 2).join("/"));
for (const [name, those] of byFolder) {
  const survived = those.filter(({ verdict }) => verdict === "survived").length;
  console.log(`${name}: ${those.length - survived} of ${those.length} noticed`);
}
const survivors = verdicts.filter(({ verdict }) => verdict === "survived");
console.log(`${verdicts.length - survivors.length} of ${verdicts.length} noticed, survivors:`);
for (const { mutation } of survivors) console.log(`  ${mutation.path}:${mutation.line} ${mutation.change}`);
