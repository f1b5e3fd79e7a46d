import { expect, it } from "vitest";
import { literal } from "../../../../src/eval/simulate/scripted-test.ts";
import { type Deviation, prove, simulate } from "../../../../src/testing.ts";
import { clerk } from "./scene.ts";

const messageOf = async (options: object): Promise<string> => {
  const [settled] = await Promise.allSettled([simulate(clerk, { schedules: 3, ...options })]);
  return settled?.status === "rejected" ? String(settled.reason.message) : "it was played";
};

it.each([
  [{ inputs: [] }, "`inputs` must not be empty"],
  [{ seed: Number.NaN }, "`seed` must be a whole number"],
  [{ seed: Infinity }, "`seed` must be a whole number"],
  [{ script: [{ text: "Yes.", calls: [] }] }, '`script[0]` has the unknown field "text"'],
  [
    { script: [{ calls: [{ name: "refund" }] }] },
    "`script[0].calls[0].arguments` must be given: {} for none",
  ],
  [{ script: [5] }, "`script[0]` must be a string or an object, got 5"],
  [{ redeploy: clerk.with({ name: "other" }) }, '`redeploy` is the agent "other"'],
  [{ test: { agent: "my agent" } }, "`test.agent` must be the name of an export"],
])("refuses what plays nothing, or the same schedule each time: %j", async (options, said) => {
  expect(await messageOf(options)).toContain(said);
});

it.each([
  [
    { script: ["Hi.", { calls: [{ name: "refnd", arguments: {} }] }] },
    '`script[1].calls[0]` calls "refnd", which the agent does not have; did you mean "refund"? It has: ',
  ],
  [{ script: [{ calls: [{ name: "no_such_tool", arguments: {} }] }] }, "it was played"],
  [{ accept: ["tools"] }, "`accept` is about the agent in `redeploy`, and there is none"],
  [{ accept: ["tools"], redeploy: clerk }, "it was played"],
])("refuses what would change nothing: %j", async (options, said) => {
  expect(await messageOf(options)).toContain(said);
});

it.each([
  "budgets hold",
  "a run waits for those that it asks",
  "a replay tells the same",
  "the stand-ins work",
  "the schedule is played",
  "the seed plays the same again",
])("refuses an invariant that is called as one of the runtime's own: %s", async (name) => {
  expect(await messageOf({ invariants: { [name]: () => true } })).toContain(
    `\`invariants\` has "${name}", which is the name of one of the runtime's own`,
  );
});

it("refuses what says its word later, when the schedule is over", async () => {
  const said = "must give its value at once, and gave a promise";
  expect(await messageOf({ invariants: { never: async () => false } })).toContain(
    `\`invariants["never"]\` ${said}`,
  );
  const late = () => Promise.reject(new Error("late"));
  expect(await messageOf({ invariants: { late } })).toContain(said);
  expect(await messageOf({ state: async () => [] })).toContain(`\`state\` ${said}`);
});

it.each([null, 0, new Error("twice"), { holds: false }])(
  "refuses an invariant that says neither yes nor no: %o",
  async (said) => {
    expect(await messageOf({ invariants: { once: () => said } })).toContain(
      '`invariants["once"]` must return true, or false or a sentence if it does not hold, and returned ',
    );
  },
);

it.each([
  { at: "model 1", does: "proposes" },
  { at: "model 1", does: "doubles" },
  { at: "model 1", does: "is-late" },
  { at: "person 1", does: "edits" },
  { at: "person 1", does: "answers-late" },
] satisfies Deviation[])("refuses a deviation that says nothing of what it does: %j", async (deviation) => {
  expect(await messageOf({ schedule: { deviations: [deviation] } })).toContain(
    "`schedule.deviations[0]` must have what it says",
  );
});

it.each([
  [{ faults: ["dies-before"], durable: false }, '"dies-before", which happens in no schedule'],
  [{ faults: ["answers-twice"], durable: false }, "durable runs, and `durable` is false"],
  [{ faults: ["comes-early"] }, "it wants several `inputs`"],
  [{ faults: ["dies-after", "redeploys"] }, "it wants the agent to deploy, in `redeploy`"],
  [{ faults: ["redeploys"], redeploy: clerk }, "a fault that ends a process: dies-before"],
  [{ faults: ["stalls", "redeploys"], redeploy: clerk }, "it was played"],
])("refuses faults that happen in no schedule: %j", async (options, said) => {
  expect(await messageOf(options)).toContain(said);
});

it.each([
  [{ at: "modl 1", does: "breaks-off" }, "there are points of the kinds model, tool, person, "],
  [{ at: "model 1", does: "fails" }, "there it may be one of proposes, is-cut, "],
  [{ at: "step 1", does: "stalls" }, "only runs with `durable: true` have that"],
] satisfies [Deviation, string][])("says why a deviation was not reached: %j", async (given, why) => {
  const { failure } = await simulate(clerk, { schedule: { deviations: [given] } });
  expect(failure?.message).toContain(`"${given.at}", which "${given.does}", was not reached: ${why}`);
});

it("prints a field that is called __proto__ as a field", () => {
  const given: unknown = JSON.parse('{"a":{"__proto__":{"b":"{\\"__proto__\\":1}"},"c":["__proto__"]}}');
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- it is what the program would read
  expect(JSON.stringify(new Function(`return ${literal(given)}`)())).toBe(JSON.stringify(given));
});

it.each(["answers-twice", "answers-another"] as const)(
  "fails where a deviation of durable runs is given for one that is not: %s",
  async (does) => {
    const script = [{ calls: [{ name: "refund", arguments: { order: "A1" } }] }];
    const failureOf = async (durable: boolean): Promise<string | undefined> => {
      const schedule = { durable, deviations: [{ at: "person 1", does }] };
      return (await simulate(clerk, { script, schedule })).failure?.message;
    };
    expect(await failureOf(true)).toBeUndefined();
    expect(await failureOf(false)).toContain(`"person 1", which "${does}", was not reached`);
  },
);

it("refuses a source of scripts that has no lines", async () => {
  await expect(prove(clerk, { source: { import: "./agent.ts" } as never })).rejects.toThrow(
    '`options.source` has the unknown field "import"',
  );
});
