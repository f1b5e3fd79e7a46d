import type { Schedule } from "./schedule.ts";

/** The module of a printed test, with the names of its exports that are simulated. */
export interface TestSource {
  /** The module that exports the agent and the options of its simulation. Default `./simulation.ts`. */
  readonly from?: string;
  /** The export with the agent. Default `agent`. */
  readonly agent?: string;
  /** The export with the options. Default `options`. */
  readonly options?: string;
}

/** A value as an expression of a program. A plain field `__proto__` would set the prototype there. */
export function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll(/([{,])"__proto__":/g, '$1["__proto__"]:');
}

/** The text of a test that plays one schedule, and fails as it does. */
export function scriptedTest(title: string, schedule: Schedule, source: TestSource = {}): string {
  const { from = "./simulation.ts", agent = "agent", options = "options" } = source;
  const lines = schedule.deviations.map((deviation) => `      ${literal(deviation)},`);
  return `import { expect, it } from "vitest";
import { simulate } from "writ/testing";
import { ${agent === options ? agent : `${agent}, ${options}`} } from ${JSON.stringify(from)};

it(${JSON.stringify(title)}, async () => {
  const schedule = {
    durable: ${schedule.durable === true},
    deviations: [
${lines.join("\n")}
    ],
  } as const;
  const { failure } = await simulate(${agent}, { ...${options}, schedule });
  expect(failure?.message).toBeUndefined();
});
`;
}
