import type { Agent } from "../../src/index.ts";
import {
  prove,
  type Sentence,
  sentenceInvariants,
  simulate,
  type Simulation,
  type SimulationOptions,
} from "../../src/testing.ts";
import { holes } from "../../test/unit/eval/prove/holes.ts";
import { cases } from "../../test/simulate/agents.ts";

/** An agent with proved sentences, and how it is simulated. */
export interface Subject {
  readonly agent: Agent<string>;
  readonly options: SimulationOptions;
  /** Sentences besides the proposed ones. */
  readonly more: readonly Sentence[];
}

/** The sentences that are proved, and the result of the search for a run that breaks one. */
export interface Looked {
  readonly proved: readonly Sentence[];
  readonly simulation: Simulation;
}

const sound = Object.entries(holes).map(([name, { sound: agent, sentence }]): readonly [string, Subject] => [
  name,
  { agent, options: {}, more: [sentence] },
]);

/** The agents of the simulator's tests, and the mended twin of each planted hole. */
export const subjects: ReadonlyMap<string, Subject> = new Map([
  ...Object.entries(cases).map(([name, { agent, options }]): readonly [string, Subject] => [
    name,
    { agent, options, more: [] },
  ]),
  ...sound,
]);

/** The seed and the number of the schedules that are drawn. */
export type Drawn = Pick<SimulationOptions, "seed" | "schedules">;

/** Proves what can be proved of an agent, and searches drawn schedules, or a given one, for a run that breaks it. */
export async function look(
  { agent, options, more }: Subject,
  drawn: Drawn & Pick<SimulationOptions, "schedule">,
): Promise<Looked> {
  const own = (await prove(agent)).sentences.map(({ sentence }) => sentence);
  const sheet = await prove(agent, { sentences: [...own, ...more] });
  const proved = sheet.sentences.flatMap(({ verdict, sentence }) => (verdict === "proved" ? [sentence] : []));
  const invariants = { ...options.invariants, ...sentenceInvariants(agent, proved) };
  const inputs = options.inputs ?? ["Send it to ada@example.com: A1, 1, and delete or refund A-17."];
  return { proved, simulation: await simulate(agent, { ...options, inputs, ...drawn, invariants }) };
}
