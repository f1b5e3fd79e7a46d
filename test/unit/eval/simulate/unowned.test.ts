import { expect, it } from "vitest";
import { simulate, type StandIn } from "../../../../src/testing.ts";
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
