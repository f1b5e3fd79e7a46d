/**
 * Puts small faults into src, one at a time, and sees which of them no test notices: npm run mutate -- --count 60 --seed 1 [--only src/policy]
 * [--minutes 30]. It works in a copy in a temporary folder; the files here are never written to. Asked are the test files that reach the function
 * of the fault (tools/reach.ts), the nearest and quickest first; the first time all tests run once to find that out. A fault is noticed when a
 * test file fails with it twice and passes without it: a busy machine fails a test now and then. What was found stays in coverage/faults.json
 * (tools/verdicts.ts), so that a run that was stopped goes on where it was. A fault that the compiler refuses counts neither way, and another is
 * drawn. Some faults change nothing that could be seen: a survivor is a question.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fingerprint } from "../src/util/hash.ts";
import { brokenCopy } from "./broken-copy.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { reachIn, type Reaching, recorders, speaksOf } from "./reach.ts";
import { filesUnder } from "./source-files.ts";
import { keptVerdicts, type Verdict } from "./verdicts.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "src" },
    minutes: { type: "string", default: "600" },
  },
});

/** A fault with a name that stays the same after other code was changed. */
interface Fault extends Mutation {
  readonly name: string;
}

/** Names faults by their file and their change, and by how many like them stand before. */
function named(all: readonly Mutation[]): readonly Fault[] {
  const alike = new Map<string, number>();
  return all.map((mutation) => {
    const name = `${mutation.path} ${mutation.change}`;
    const earlier = alike.get(name) ?? 0;
    alike.set(name, earlier + 1);
    return { ...mutation, name: `${name} ${earlier}` };
  });
}

/**
 * The faults in an order of the seed. The place of each depends on its name alone, so that the same seed draws the same faults after other code was
 * changed: what survived can be drawn again once it has a test.
 */
function shuffled(all: readonly Fault[], seed: number): readonly Fault[] {
  return all
    .map((fault) => ({ fault, at: fingerprint(`${seed} ${fault.name}`).padStart(11, "0") }))
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .map(({ fault }) => fault);
}

/** The number of folders that two paths share from the start, without the kind of test; at least 1 where the test's path names a folder of the file. */
function nearness(file: string, path: string): number {
  const there = path.split("/").slice(1, -1);
  const here = file.split("/").slice(2, -1);
  const apart = there.findIndex((name, index) => here[index] !== name);
  return Math.max(apart === -1 ? there.length : apart, speaksOf(file, path) ? 1 : 0);
}

/** The cost of starting a test file, in milliseconds. */
const beginning = 700;

/** The test files that reach a fault, the nearest and quickest first, in groups that take longer and longer. */
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

// Register: files of tests that pass without any fault.
const clean = new Set<string>();

/** True when a test file that failed with a fault fails a second time with it, and passes without it. */
async function isCertain(file: string, ms: number, fault: Broken): Promise<boolean> {
  fault.put();
  const again = await failing([file], ms);
  fault.remove();
  if (again?.length === 0) return false;
  if (!clean.has(file) && (await failing([file], ms))?.length === 0) clean.add(file);
  return clean.has(file);
}

/** A fault that can be put into its file of the copy, and removed. */
interface Broken {
  readonly put: () => void;
  readonly remove: () => void;
}

function brokenBy({ path, start, end, text }: Fault): Broken {
  const file = join(folder, path);
  const whole = readFileSync(file, "utf8");
  return {
    put: () => writeFileSync(file, whole.slice(0, start) + text + whole.slice(end)),
    remove: () => writeFileSync(file, whole),
  };
}

/** True when tests that reach a fault notice it. A file that fails for another reason is left out, and the others are run again. */
async function isNoticedBy(group: readonly Reaching[], fault: Broken): Promise<boolean> {
  let left = group;
  while (left.length > 0) {
    const ms = 60_000 + 6 * timeOf(left);
    const files = left.map(({ file }) => file);
    fault.put();
    const failed = await failing(files, ms);
    fault.remove();
    if (failed === undefined) return isEndless(files, ms, fault);
    const [first] = failed;
    if (first === undefined) return false;
    if (await isCertain(first, ms, fault)) return true;
    left = left.filter(({ file }) => file !== first);
  }
  return false;
}

/** True when tests that did not end in their time end without the fault, and do not end with it a second time. */
async function isEndless(files: readonly string[], ms: number, fault: Broken): Promise<boolean> {
  const began = Date.now();
  if ((await failing(files, 3 * ms)) === undefined) return false;
  const enough = Math.max(ms, 4 * (Date.now() - began));
  fault.put();
  const again = await failing(files, enough);
  fault.remove();
  return again === undefined;
}

/** The verdict of the tests on a fault. */
async function judge(fault: Fault): Promise<Verdict> {
  const broken = brokenBy(fault);
  broken.put();
  const isCode = compiles(fault.path);
  broken.remove();
  if (!isCode) return "refused";
  for (const group of groupsOf(fault)) if (await isNoticedBy(group, broken)) return "noticed";
  return "survived";
}

const all = filesUnder("src", ".ts")
  .filter(({ path }) => path.startsWith(values.only) && path !== "src/error/codes.ts")
  .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  .flatMap(mutationsOf);
const wanted = Number(values.count);
console.log(`${wanted} of ${all.length} faults, seed ${values.seed}`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
const copy = brokenCopy(recorders);
const { folder, compiles } = copy;
const failing = (files: readonly string[], ms: number): ReturnType<typeof copy.failing> =>
  copy.failing(files, { milliseconds: ms, options: ["--maxWorkers=1", "--bail=1"] });
const reaching = await reachIn(copy);
const kept = keptVerdicts();
const end = Date.now() + Number(values.minutes) * 60_000;
const judged: { readonly fault: Fault; readonly verdict: Verdict }[] = [];

for (const fault of shuffled(named(all), Number(values.seed))) {
  if (judged.length === wanted || Date.now() > end) break;
  const verdict = kept.of(fault) ?? (await judge(fault));
  kept.keep(fault, verdict);
  if (verdict !== "refused") judged.push({ fault, verdict });
  console.log(`${verdict.padEnd(8)} ${fault.path}:${fault.line} ${fault.change}`);
}

const sorted = judged.toSorted((one, other) => (one.fault.path < other.fault.path ? -1 : 1));
const byFolder = Map.groupBy(sorted, ({ fault }) => fault.path.split("/").slice(0, 2).join("/"));
console.log("\n| folder | faults | noticed |\n|---|--:|--:|");
for (const [name, those] of byFolder)
  console.log(
    `| ${name} | ${those.length} | ${those.filter(({ verdict }) => verdict === "noticed").length} |`,
  );
const survivors = judged.filter(({ verdict }) => verdict === "survived");
const noticed = judged.length - survivors.length;
console.log(
  `\n${noticed} of ${judged.length} noticed (${Math.floor((100 * noticed) / judged.length)} %); survivors:`,
);
for (const { fault } of survivors) console.log(`  ${fault.path}:${fault.line} ${fault.change}`);
process.exit();
