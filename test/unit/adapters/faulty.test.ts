import { describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { fakeTool, faulty, type ModelFault, scripted } from "../../../src/testing.ts";

const calls = [{ name: "pay", arguments: { to: "Ada" } }];

function payer(fault: ModelFault) {
  const pay = fakeTool("pay", "paid");
  const script = scripted([{ text: "I pay.", calls }, "Paid."]);
  const model = faulty(script, [fault]);
  const one = agent({ name: "payer", model, tools: [pay], retry: { firstDelayMs: 1 } });
  return { pay, script, run: () => one.run("Pay Ada") };
}

describe("faulty()", () => {
  it("lets a provider refuse once: the run asks again", async () => {
    const { pay, script, run } = payer({ type: "rate-limited", retryAfterMs: 5 });
    expect((await run()).text).toBe("Paid.");
    expect(pay.calls).toHaveLength(1);
    expect(script.requests).toHaveLength(2); // the refused one did not reach it
  });

  it.each([0, 1, 2, 3])(
    "cuts the stream after %i pieces: no call of it runs, and the run asks again",
    async (after) => {
      const { pay, run } = payer({ type: "cut", after });
      const { text, outcome } = await run();
      expect(outcome).toMatchObject({ type: "answered" });
      expect(text).toBe("Paid.");
      expect(pay.calls.length).toBeLessThanOrEqual(1);
    },
  );

  it("spoils the arguments: the call does not run, and the model is told", async () => {
    const { pay, run } = payer({ type: "malformed" });
    const { transcript } = await run();
    expect(pay.calls).toHaveLength(0);
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ status: "invalid" });
    const reply = transcript.messages.find(({ role }) => role === "assistant");
    expect(JSON.stringify(reply)).toContain(JSON.stringify('{"to":"Ada"'));
  });

  it.each([
    [undefined, "pay_2"],
    ["drop", "drop"],
  ])("names another tool (%s)", async (name, called) => {
    const { pay, run } = payer({ type: "wrong-tool", ...(name === undefined ? {} : { name }) });
    const { transcript } = await run();
    expect(pay.calls).toHaveLength(0);
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({
      name: called,
      status: "denied",
    });
  });

  it("is slow, and stops waiting when the run does", async () => {
    const pay = fakeTool("pay", "paid");
    const model = faulty(scripted(["late"]), [{ type: "slow", ms: 60_000 }]);
    const { outcome } = await agent({ name: "payer", model, tools: [pay], budget: { durationMs: 20 } }).run(
      "Pay",
    );
    expect(outcome).toMatchObject({ type: "exhausted" });
  });

  it("leaves the other requests as they are, and the model its id and features", async () => {
    const script = scripted(["one", "two"], { id: "m", features: { tools: true, formatWithTools: true } });
    const model = faulty(script, [undefined, { type: "wrong-tool" }]);
    const one = agent({ name: "a", model });
    expect([await one("go"), await one("go")]).toEqual(["one", "two"]);
    expect([model.id, model.features, model.price?.({ inputTokens: 1, outputTokens: 1 })]).toEqual([
      "m",
      { tools: true, formatWithTools: true },
      0,
    ]);
  });
});
