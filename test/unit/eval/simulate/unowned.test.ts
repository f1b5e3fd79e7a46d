import { expect, it } from "vitest";
import { simulate, type SimulationFailure, type StandIn } from "../../../../src/testing.ts";
import { clerk, once } from "./scene.ts";

const said = "the same seed plays otherwise a second time";

/** The message of the first failure of a clerk that counts its refunds like this. */
async function messageWith<State extends { refunds: unknown[] }>(
  state: () => State,
  note: (state: State) => unknown,
): Promise<string> {
  const refund: StandIn<State> = (_args, { state: now }) => void now.refunds.push(note(now));
  const { failure } = await simulate(clerk, {
    schedules: 2000,
    state,
    tools: { refund },
    invariants: {
      "refunds are few": ({ state: { refunds } }) => new Set(refunds).size < 40,
      "refunds differ": ({ state: { refunds } }) => new Set(refunds).size === refunds.length,
    },
  });
  return failure?.message ?? "";
}

it("says that a variable which stays from schedule to schedule decides", async () => {
  const shared = { refunds: [] as unknown[] };
  let number = 0;
  expect(
    await messageWith(
      () => shared,
      () => (number += 1),
    ),
  ).toMatch(new RegExp(`^refunds are few: it does not hold\\n${said}.*\\n0 run-1 begins`, "i"));
});

it("says that a thing decides which happens once, as chance has it", async () => {
  let number = 0;
  let hasHappened = false;
  const message = await messageWith(
    () => ({ refunds: [] as unknown[] }),
    ({ refunds }) => {
      const isSame = !hasHappened && refunds.length > 0; // as two random numbers may be
      hasHappened ||= isSame;
      return isSame ? refunds[0] : (number += 1);
    },
  );
  expect(message).toMatch(/^refunds differ: it does not hold/);
  expect(message.toLowerCase()).toContain(said);
});

it("says nothing of the kind about a failure that the seed owns", async () => {
  const { failure } = await simulate(clerk, { ...once, schedules: 2000 });
  expect(failure?.message).toBeDefined();
  expect(failure?.message.toLowerCase()).not.toContain(said);
});

/** The failure of a clerk whose refunds return this, and about whom nothing else is asked. */
async function passing(value: () => unknown, given: object = {}): Promise<SimulationFailure | undefined> {
  return (await simulate(clerk, { schedules: 300, ...given, tools: { refund: () => value() } })).failure;
}
const again = "the seed plays the same again";

const counter = (): (() => number) => {
  let count = 0;
  return () => (count += 1);
};

it.each([
  ["a counter that stays", counter],
  ["chance", () => () => Math.random()],
  ["the clock", () => () => process.hrtime.bigint().toString()],
])("fails although all invariants hold where %s decides, and names the schedule", async (_what, make) => {
  const failure = await passing(make());
  expect(failure?.invariant).toBe(again);
  expect(failure?.message).toMatch(
    /^the seed plays the same again: schedule \d+ \(seed \d+\) was played twice\. It told "\d+ tool refund \d gives .*" the first time, and "\d+ tool refund \d gives .*" the second time\. .*Math\.random\(\)/,
  );
  expect(failure?.trace).toContain("tool refund");
  expect(failure?.test).toContain(`seed: ${failure?.seed}, schedules: 1`);
  expect((await passing(make(), { seed: failure?.seed, schedules: 1 }))?.invariant).toBe(again);
});

it("notices in the first schedule what the others leave behind", async () => {
  const known = new Set<string>();
  const failure = await passing(() => (known.has("A1") ? "known" : (known.add("A1"), "new")), {
    schedules: 5,
    faults: ["is-silent"],
    script: [{ calls: [{ name: "refund", arguments: { order: "A1" } }] }],
  });
  expect(failure?.invariant).toBe(again);
});

it("plays one schedule in a hundred twice, and the first again after the others", async () => {
  let worlds = 0;
  const { failure, schedules } = await simulate(clerk, { schedules: 300, state: () => (worlds += 1) });
  expect(failure).toBeUndefined();
  expect(worlds - schedules).toBe(4);
});
