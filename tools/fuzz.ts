/**
 * Plays random hostile scenes in the real runtime: npm run fuzz -- --runs 100000 [--seed n] [--only kind] [--path "1:2"] [--ignore words]
 */
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { failureText, fuzzRuns, kindNames } from "../test/fuzz/harness.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string" },
    only: { type: "string" },
    path: { type: "string" },
    ignore: { type: "string", multiple: true },
  },
});

const { runs, only, path } = values;
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
if (only !== undefined && !kindNames.includes(only)) {
  process.stderr.write(`There is no kind "${only}": ${kindNames.join(", ")}.\n`);
  process.exit(2);
}

/** A scene that never gives the thread back is seen from another one. */
const buffer = new SharedArrayBuffer(12);
const beats = new Int32Array(buffer);
const watching = new Worker(new URL("../test/fuzz/watchdog-thread.ts", import.meta.url), {
  workerData: { buffer, seed, kinds: kindNames, path },
});
watching.unref();
const fuzzed = await fuzzRuns({
  runs: Number(runs),
  seed,
  validatorMs: 50,
  onScene(kind, scene) {
    beats[1] = kind;
    beats[2] = scene;
    beats[0] = (beats[0] ?? 0) + 1;
  },
  ...(only === undefined ? {} : { only }),
  ...(path === undefined ? {} : { path }),
  ...(values.ignore === undefined ? {} : { ignore: values.ignore }),
  onProgress: (done, all) => process.stderr.write(`\r${done} of ${all}`),
});
const { milliseconds, byKind, failures } = fuzzed;
const counts = Object.entries(byKind).map(([kind, count]) => `${kind} ${count}`);
const perSecond = Math.round((fuzzed.runs * 1000) / milliseconds);
process.stderr.write("\n");
process.stdout.write(
  `seed ${fuzzed.seed}: ${fuzzed.runs} runs (${counts.join(", ")}), ${perSecond} a second\n`,
);
const happened = Object.entries(fuzzed.tally).map(([what, number]) => `${number} ${what}`);
if (happened.length > 0) process.stdout.write(`${happened.join(", ")}\n`);
for (const failure of failures) process.stdout.write(`\n${failureText(failure)}\n`);
process.stdout.write(
  failures.length === 0 ? "Every invariant held.\n" : `\n${failures.length} kinds failed.\n`,
);
process.exitCode = failures.length === 0 ? 0 : 1;
