/** Simulates the agents of the tests in this copy of the source until an invariant breaks, and prints the finding: node tools/planted/hunt.ts SECONDS */
import { simulate } from "../../src/testing.ts";
import { cases } from "../../test/simulate/agents.ts";

const began = performance.now();
const seconds = (): number => (performance.now() - began) / 1000;
const most = Number(process.argv[2] ?? 60);
/** The number of schedules of one agent before the next agent's turn. */
const share = 40;

let schedules = 0;
for (let seed = 1; seconds() < most; seed += share)
  for (const [name, { agent, options }] of Object.entries(cases)) {
    const { failure, schedules: played } = await simulate(agent, { ...options, seed, schedules: share });
    schedules += played;
    if (failure === undefined) continue;
    const { invariant, steps, message } = failure;
    const [what = ""] = message.split("\n");
    const found = {
      agent: name,
      invariant,
      what,
      steps,
      schedules,
      seconds: seconds(),
      trace: failure.trace,
    };
    process.stdout.write(`${JSON.stringify(found)}\n`);
    process.exit(0);
  }
process.stdout.write(`${JSON.stringify({ schedules, seconds: seconds() })}\n`);
