/**
 * Ends workers of durable runs at random, and checks that no run was lost and no payment made twice: npm run kill:workers -- --ends 100 --seed 7.
 * With `--signal SIGTERM` each worker hands its runs over: then no result may be unknown. Ends with 1 when something was wrong.
 */
import { parseArgs } from "node:util";
import "./compile-cache.ts";
import { randomFrom } from "../test/random.ts";
import { killWorkers } from "./kill/kill-workers.ts";

const { values } = parseArgs({
  options: {
    ends: { type: "string", default: "100" },
    runs: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    signal: { type: "string", default: "both" },
  },
});
const next = randomFrom(Number(values.seed));
const isGentle = values.signal === "SIGTERM";
const { ended, unknown, complaints } = await killWorkers({
  runs: Number(values.runs),
  workers: 2,
  signal: () => (isGentle || (values.signal === "both" && next() < 0.5) ? "SIGTERM" : "SIGKILL"),
  next,
  most: Number(values.ends),
});
const faults = [
  ...complaints,
  ...(isGentle && unknown > 0 ? [`${unknown} runs have a result that is unknown`] : []),
];
for (const fault of faults) console.log(fault);
console.log(
  `${ended} workers ended, ${values.runs} runs, seed ${values.seed}: ${faults.length} faults, ${unknown} runs with an unknown result`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
