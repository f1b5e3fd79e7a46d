/**
 * Checks the happenings of drawn schedules of the simulator against the machine of a run (table.ts), and checks that faults put into traces are refused:
 * npm run machine:traces -- --count 10000 [--seed n]. Ends with 1 where a trace is refused, no trace takes a transition, or a fault passes.
 */
import { parseArgs } from "node:util";
import { transitions } from "./table.ts";
import { refusedOfTampered } from "./tampered.ts";
import { traced } from "./traces.ts";

const { values } = parseArgs({
  options: { count: { type: "string", default: "10000" }, seed: { type: "string", default: "1" } },
});
const [traces, seed] = [Number(values.count), Number(values.seed)];
if (!Number.isSafeInteger(traces) || traces < 1 || !Number.isSafeInteger(seed)) {
  process.stderr.write("--count is a number of traces from 1, --seed a whole number.\n");
  process.exit(2);
}

const { traces: followed, moves, deviations, refused } = await traced({ traces, seed });
const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);
const idle = transitions.filter(({ name }) => moves[name] === undefined).map(({ name }) => name);
console.log(
  `${followed} traces from seed ${seed}, ${sum(moves)} moves, ${sum(deviations)} deviations of ${Object.keys(deviations).length} kinds`,
);
console.log(
  Object.entries(moves)
    .map(([name, count]) => `${count} ${name}`)
    .join(", "),
);
if (idle.length > 0) console.log(`taken by none: ${idle.join(", ")}`);
console.log(
  refused === undefined ? "all accepted" : `REFUSED: ${refused.agent}, seed ${refused.seed}: ${refused.why}`,
);
let isGood = refused === undefined && idle.length === 0;
for (const { says, tampered, passed } of await refusedOfTampered({ traces: Math.min(traces, 600), seed })) {
  const isFound = tampered > 0 && passed.length === 0;
  isGood &&= isFound;
  console.log(
    `${isFound ? "refused" : "NOT REFUSED"}: ${says}; ${tampered - passed.length} of ${tampered} ${passed[0] ?? ""}`.trim(),
  );
}
process.exitCode = isGood ? 0 : 1;
