import { simulate, type SimulationOptions, type Simulation } from "writ/testing";
import mailer from "../../examples/approval/agent.ts";
import nextMailer from "../../examples/approval/next-release.ts";
import { calculator } from "../../examples/calculator/agent.ts";
import { desk } from "../../examples/eval/agent.ts";
import { clerk } from "../../examples/recipes/clerk.ts";

type Seeded = Pick<SimulationOptions, "seed" | "schedules">;

/** The agents of the examples, each of which is played as its users run it. */
export const examples: Readonly<Record<string, (seeded: Seeded) => Promise<Simulation>>> = {
  "approval/agent": (seeded) =>
    simulate(mailer, { ...seeded, inputs: ["Remind Ada of invoice 17."], redeploy: nextMailer }),
  "calculator/agent": (seeded) =>
    simulate(calculator, { ...seeded, inputs: ["What is 3 + 5?", "And twice that?"] }),
  "eval/agent": (seeded) => simulate(desk, { ...seeded, inputs: ["Refund 30 euro of order A17."] }),
  "recipes/clerk": (seeded) => simulate(clerk, { ...seeded, inputs: ["Refund order 17: 30 euros."] }),
};
