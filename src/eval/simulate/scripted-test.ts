import type { Schedule } from "./schedule.ts";

/** The module of a printed test, with the names of its exports that are simulated. */
export interface TestSource {
  /** The module that exports the agent and the options of its simulation. Default `./simulation.ts`. */
  readonly from?: string;
  /** The export with the agent, which may be `default`. Default `agent`. */
  readonly agent?: string;
  /** The export with the options. Default `options`. */
  readonly options?: string;
  /** The runner of the test: `node` is `node --test`. Default `vitest`. */
  readonly runner?: "vitest" | "node";
}

/** A value as an expression of a program. A plain field `__proto__` would set the prototype there. */
export function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll(/([{,])"__proto__":/g, '$1["__proto__"]:');
}

interface Runner {
  readonly imports: readonly string[];
  readonly begin: string;
  readonly check: string;
}

const runners: Readonly<Record<NonNullable<TestSource["runner"]>, Runner>> = {
  vitest: {
    imports: ['import { expect, it } from "vitest";'],
    begin: "it",
    check: "expect(failure?.message).toBeUndefined();",
  },
  node: {
    imports: ['import assert from "node:assert/strict";', 'import { test } from "node:test";'],
    begin: "test",
    check: "assert.equal(failure, undefined, failure?.message);",
  },
};

/** The name of an export in a test, and its import. */
function exported(name: string, own: string): { readonly name: string; readonly taken: string } {
  return name === "default" ? { name: own, taken: `default as ${own}` } : { name, taken: name };
}

/** The schedule that a test plays, or the seed that draws it. */
type PlayedByTest = Schedule | { readonly seed: number };

/** The text of a test that plays one schedule, and fails as it does. */
export function scriptedTest(title: string, played: PlayedByTest, source: TestSource = {}): string {
  const { from = "./simulation.ts", agent = "agent", options = "options", runner = "vitest" } = source;
  const { imports, begin, check } = runners[runner];
  const [subject, held] = [exported(agent, "agent"), exported(options, "options")];
  const names = new Set([subject.taken, held.taken]);
  const { lines, fields } =
    "seed" in played ? { lines: "", fields: `seed: ${played.seed}, schedules: 1` } : written(played);
  return `${imports.join("\n")}
import { simulate } from "writ/testing";
import { ${[...names].join(", ")} } from ${JSON.stringify(from)};

${begin}(${JSON.stringify(title)}, async () => {
${lines}  const { failure } = await simulate(${subject.name}, { ...${held.name}, ${fields} });
  ${check}
});
`;
}

/** The lines of a test that have its schedule, and the field that gives it. */
function written(schedule: Schedule): { readonly lines: string; readonly fields: string } {
  const deviations = schedule.deviations.map((deviation) => `      ${literal(deviation)},`);
  const lines = `  const schedule = {
    durable: ${schedule.durable === true},
    deviations: [
${deviations.join("\n")}
    ],
  } as const;
`;
  return { lines, fields: "schedule" };
}
