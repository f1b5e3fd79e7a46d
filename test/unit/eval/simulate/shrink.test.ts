import { expect, it } from "vitest";
import { type Deviation, type Schedule, simulate } from "../../../../src/testing.ts";
import { shrink } from "../../../../src/eval/simulate/shrink.ts";
import { clerk } from "./scene.ts";

const call = (name: string, id: string) => ({ name, arguments: { order: id } });
const says = (at: number, ...calls: ReturnType<typeof call>[]): Deviation => ({
  at: `model ${at}`,
  does: "proposes",
  calls,
});

/** The schedule that is left of one in which a result of a refund of A2 has this status. */
async function shortest(status: string, schedule: Schedule): Promise<readonly Deviation[]> {
  const short = await shrink(schedule, async (shorter) => {
    const { failure } = await simulate(clerk, {
      schedule: shorter,
      invariants: {
        planted: ({ facts }) =>
          !facts.some(
            (fact) =>
              fact.type === "tool-end" &&
              fact.result.status === status &&
              JSON.stringify(fact.arguments) === JSON.stringify({ order: "A2" }),
          ),
      },
    });
    return failure?.invariant === "planted";
  });
  return short.deviations;
}

it("leaves out what made a person be asked before, and has the next answer be theirs", async () => {
  const replies = [says(1, call("refund", "A1")), says(2, call("look", "A1")), says(3, call("refund", "A2"))];
  expect(await shortest("denied", { deviations: [...replies, { at: "person 2", does: "refuses" }] })).toEqual(
    [says(1, call("refund", "A2")), { at: "person 1", does: "refuses" }],
  );
});

it("leaves out a call of a reply that ran its tool before, and has the next run be the first", async () => {
  const deviations: Deviation[] = [
    says(1, call("refund", "A1"), call("refund", "A2")),
    { at: "tool refund 2", does: "fails-after" },
  ];
  expect(await shortest("error", { deviations })).toEqual([
    says(1, call("refund", "A2")),
    { at: "tool refund 1", does: "fails-after" },
  ]);
});

it("leaves out a process that died before, with the steps that it took to go on", async () => {
  const deviations: Deviation[] = [
    { at: "step 2", does: "stalls" },
    says(1, call("refund", "A2")),
    { at: "step 7", does: "dies-unkept" },
  ];
  const short = await shortest("unknown", { durable: true, deviations });
  expect(short).toHaveLength(2);
  expect(short).toContainEqual(says(1, call("refund", "A2")));
});
