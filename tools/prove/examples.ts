import { prove, sentenceInvariants, simulate, type Simulation, type SimulationOptions } from "writ/testing";
import mailer from "../../examples/approval/agent.ts";
import { calculator } from "../../examples/calculator/agent.ts";
import { desk } from "../../examples/eval/agent.ts";
import { clerk } from "../../examples/recipes/clerk.ts";

type Drawn = Pick<SimulationOptions, "seed" | "schedules">;

interface Looked {
  readonly proved: readonly object[];
  readonly simulation: Simulation;
}

type Provable = Parameters<typeof prove>[0];

/** The examples as users have them, from the build: what is proved of each, and runs that might break it. */
export const lookAtExamples: ReadonlyMap<string, (drawn: Drawn) => Promise<Looked>> = new Map([
  ["approval/agent", (drawn: Drawn) => look(mailer, "Remind Ada of invoice 17.", drawn)],
  ["calculator/agent", (drawn: Drawn) => look(calculator, "What is 3 + 5?", drawn)],
  ["eval/agent", (drawn: Drawn) => look(desk, "Refund 30 euro of order A17.", drawn)],
  ["recipes/clerk", (drawn: Drawn) => look(clerk, "Refund order 17: 30 euros.", drawn)],
]);

async function look(agent: Provable, input: string, drawn: Drawn): Promise<Looked> {
  const { sentences } = await prove(agent);
  const proved = sentences.flatMap(({ verdict, sentence }) => (verdict === "proved" ? [sentence] : []));
  const invariants = sentenceInvariants(agent, proved);
  return { proved, simulation: await simulate(agent, { inputs: [input], ...drawn, invariants }) };
}
