import { expect, it } from "vitest";
import { type Deviation, simulate } from "../../../../src/testing.ts";
import { clerk } from "./scene.ts";

const messageOf = async (options: object): Promise<string> => {
  const [settled] = await Promise.allSettled([simulate(clerk, { schedules: 3, ...options })]);
  return settled?.status === "rejected" ? String(settled.reason.message) : "it was played";
};

it.each([
  [{ inputs: [] }, "`inputs` must not be empty"],
  [{ seed: Number.NaN }, "`seed` must be a whole number"],
  [{ seed: Infinity }, "`seed` must be a whole number"],
])("refuses what plays nothing, or the same schedule each time: %j", async (options, said) => {
  expect(await messageOf(options)).toContain(said);
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
