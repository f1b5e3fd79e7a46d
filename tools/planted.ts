/**
 * Plants each of the known bugs in a copy of the source, and has the simulator look for it: npm run planted -- [--seconds 60] [--only words] [--trace]
 */
import { parseArgs } from "node:util";
import { bugs } from "./planted/bugs.ts";
import { huntFor } from "./planted/plant.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    only: { type: "string", default: "" },
    trace: { type: "boolean", default: false },
  },
});

let found = 0;
const wanted = bugs.filter(({ name }) => name.includes(values.only));
process.stdout.write("| planted bug | found by | in seconds | schedules | steps |\n|---|---|---|---|---|\n");
for (const bug of wanted) {
  const end = huntFor(bug, { seconds: Number(values.seconds) });
  if (typeof end === "string") process.stdout.write(`| ${bug.name} | **${end}** | | | |\n`);
  else {
    const { agent, invariant, what = "", steps = "", schedules, seconds, trace } = end;
    if (invariant !== undefined) found += 1;
    const by = invariant === undefined ? "**not found**" : `${invariant} (${agent ?? ""})`;
    process.stdout.write(`| ${bug.name} | ${by} | ${seconds.toFixed(1)} | ${schedules} | ${steps} |\n`);
    if (values.trace) process.stdout.write(`${what}\n${trace ?? ""}\n`);
  }
}
process.stdout.write(`\n${found} of ${wanted.length} found\n`);
process.exitCode = found >= Math.min(28, wanted.length) ? 0 : 1;
