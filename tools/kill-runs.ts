/**
 * Kills runs at every point of their journal, and at random ones, and looks whether anything was lost or done twice: npm run kill -- --kills 200
 * --seed 7. A run is killed up to 4 times; in every second one each payment waits for an answer. Ends with 1 when something was.
 */
import { parseArgs } from "node:util";
import { randomFrom } from "../test/random.ts";
import { killRun } from "./kill/kill-runs.ts";

const { values } = parseArgs({
  options: { kills: { type: "string", default: "100" }, seed: { type: "string", default: "1" } },
});
const next = randomFrom(Number(values.seed));
const places = ["in", "out", "kept"] as const;
const mostSteps = 24;
const pointAt = (): string =>
  `${places[Math.floor(next() * places.length)] ?? "in"}:${1 + Math.floor(next() * mostSteps)}`;

let kills = 0;
let runs = 0;
let unknown = 0;
let faults = 0;
while (kills < Number(values.kills)) {
  const points = Array.from({ length: 1 + Math.floor(next() * 4) }, pointAt);
  const ended = await killRun(points, runs % 2 === 1);
  runs += 1;
  kills += ended.kills;
  unknown += ended.unknown;
  for (const complaint of ended.complaints) console.log(`${points.join(" ")}: ${complaint}`);
  faults += ended.complaints.length;
}
console.log(
  `${kills} kills in ${runs} runs, seed ${values.seed}: ${faults} faults, ${unknown} results unknown`,
);
process.exitCode = faults === 0 ? 0 : 1;
