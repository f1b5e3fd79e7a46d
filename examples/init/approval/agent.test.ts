import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { scripted } from "writ/testing";
import { desk, refunds } from "./agent.ts";

beforeEach(() => void refunds.splice(0));

const wants = (): ReturnType<typeof scripted> =>
  scripted([{ calls: [{ name: "refund", arguments: { order: "17", euro: 40 } }] }, "That is all I may do."]);

test("refunds nothing after a no", async () => {
  const run = await desk.with({ model: wants() }).run("Refund order 17", { approve: () => false });
  assert.deepEqual(refunds, []);
  assert.equal(run.calls[0]?.status, "denied");
});

test("refunds the amount that the person approved, once", async () => {
  await desk.with({ model: wants() }).run("Refund order 17", {
    approve: () => ({ approved: true, arguments: { order: "17", euro: 30 } }),
  });
  assert.deepEqual(refunds, ["30 euro for order 17"]);
});
