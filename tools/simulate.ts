/**
 * Plays the project's agents in schedules of a simulated world: npm run simulate -- --schedules 100000 [--seed n] [--only name] (npm run build first)
 */
import { parseArgs } from "node:util";
import type { Simulation } from "writ/testing";
import { examples } from "./simulate/examples.ts";
import { cases } from "../test/simulate/agents.ts";
import { simulate } from "../src/testing.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
  },
});

type Play = (given: { readonly seed: number; readonly schedules: number }) => Promise<Simulation>;

/** The examples as users have them, from what is built, and the cases of the tests. */
const plays: Readonly<Record<string, Play>> = {
  ...examples,
  ...Object.fromEntries(
    Object.entries(cases).map(([name, { agent, options }]): [string, Play] => [
      name,
      (given) => simulate(agent, { ...options, ...given }),
    ]),
  ),
};

const wanted = Object.entries(plays).filter(([name]) => values.only === undefined || name === values.only);
if (wanted.length === 0) {
  process.stderr.write(`There is no "${values.only ?? ""}": ${Object.keys(plays).join(", ")}.\n`);
  process.exit(2);
}
const share = Math.ceil(Number(values.schedules) / wanted.length);
let failed = 0;
for (const [name, play] of wanted) {
  const began = process.cpuUsage();
  const { schedules, counts, digest, failure } = await play({ seed: Number(values.seed), schedules: share });
  const { user, system } = process.cpuUsage(began);
  const perSecond = Math.round((schedules * 1e6) / (user + system));
  const happened = Object.entries(counts).map(([what, number]) => `${number} ${what}`);
  process.stdout.write(
    `${name}: ${schedules} schedules, ${perSecond} a second of a core, ${happened.join(", ")}, digest ${digest}\n`,
  );
  if (failure === undefined) continue;
  failed += 1;
  process.stdout.write(
    `\nseed ${String(failure.seed)}, ${failure.steps} steps\n${failure.message}\n\n${failure.test}\n`,
  );
}
process.stdout.write(failed === 0 ? "Every invariant held.\n" : `${failed} of ${wanted.length} failed.\n`);
process.exitCode = failed === 0 ? 0 : 1;
