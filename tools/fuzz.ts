/**
 * Plays random hostile scenes in the real runtime: npm run fuzz -- --runs 100000 [--seed n] [--only kind] [--path "1:2"] [--ignore words]
 * Many are played in parts, each with the next seed; with --state FILE the finished parts are recorded there, and skipped the next time.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { type Fuzzed, failureText, fuzzRuns, kindNames } from "../test/fuzz/harness.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string" },
    state: { type: "string" },
    only: { type: "string" },
    path: { type: "string" },
    ignore: { type: "string", multiple: true },
  },
});

const { only, path, state, ignore } = values;
const runs = Number(values.runs);
const first = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
if (only !== undefined && !kindNames.includes(only)) {
  process.stderr.write(`There is no kind "${only}": ${kindNames.join(", ")}.\n`);
  process.exit(2);
}

/** A kind that fails is not played further in its part: with more parts, more is seen. */
const partSize = 20_000;

/** A part that was played: a line of the file of --state. */
interface Part {
  readonly seed: number;
  readonly runs: number;
  readonly failed: number;
}

const buffer = new SharedArrayBuffer(12);
const beats = new Int32Array(buffer);
const done: Part[] = state !== undefined && existsSync(state) ? partsIn(readFileSync(state, "utf8")) : [];
const played = new Set(done.map(({ seed }) => seed));
for (let left = runs, seed = first; left > 0; left -= partSize, seed += 1) {
  if (played.has(seed)) continue;
  const fuzzed = await playPart(seed, Math.min(left, partSize));
  tell(fuzzed);
  const part: Part = { seed, runs: fuzzed.runs, failed: fuzzed.failures.length };
  done.push(part);
  if (state !== undefined) appendFileSync(state, `${JSON.stringify(part)}\n`);
}
const failed = done.reduce((sum, part) => sum + part.failed, 0);
const all = done.reduce((sum, part) => sum + part.runs, 0);
if (done.length > 1) process.stdout.write(`${all} scenes of ${done.length} seeds\n`);
process.stdout.write(failed === 0 ? "Every invariant held.\n" : `\n${failed} kinds failed.\n`);
process.exitCode = failed === 0 ? 0 : 1;

function partsIn(text: string): Part[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Part);
}

/** Plays a part. A worker thread watches it, because a scene may never give this thread back. */
async function playPart(seed: number, scenes: number): Promise<Fuzzed> {
  const watching = new Worker(new URL("../test/fuzz/watchdog-thread.ts", import.meta.url), {
    workerData: { buffer, seed, kinds: kindNames, path },
  });
  watching.unref();
  const fuzzed = await fuzzRuns({
    runs: scenes,
    seed,
    validatorMs: 50,
    onScene(kind, scene) {
      beats[1] = kind;
      beats[2] = scene;
      beats[0] = (beats[0] ?? 0) + 1;
    },
    ...(only === undefined ? {} : { only }),
    ...(path === undefined ? {} : { path }),
    ...(ignore === undefined ? {} : { ignore }),
    onProgress: (so, of) => process.stderr.write(`\r${so} of ${of}`),
  });
  await watching.terminate();
  return fuzzed;
}

function tell({ seed, runs: scenes, milliseconds, byKind, tally, failures }: Fuzzed): void {
  const counts = Object.entries(byKind).map(([kind, count]) => `${kind} ${count}`);
  const perSecond = Math.round((scenes * 1000) / milliseconds);
  process.stderr.write("\n");
  process.stdout.write(`seed ${seed}: ${scenes} runs (${counts.join(", ")}), ${perSecond} a second\n`);
  const happened = Object.entries(tally).map(([what, number]) => `${number} ${what}`);
  if (happened.length > 0) process.stdout.write(`${happened.join(", ")}\n`);
  for (const failure of failures) process.stdout.write(`\n${failureText(failure)}\n`);
}
