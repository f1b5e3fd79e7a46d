import { expect, it } from "vitest";
import { agent, type Policy } from "../../src/index.ts";
import { fakeTool, sentenceInvariants, simulate } from "../../src/testing.ts";
import { look, subjects } from "../../tools/prove/proved.ts";

it.each([...subjects])(
  "is not broken by drawn runs, once it is proved: %s",
  { timeout: 600_000 },
  async (_name, subject) => {
    const { proved, simulation } = await look(subject, { seed: 1, schedules: 30 });
    expect(proved.length).toBeGreaterThan(1);
    expect(simulation.failure?.message).toBeUndefined();
  },
);

it("is not broken by a call that was cancelled in a process which died: the model read the runtime's words alone", async () => {
  const subject = subjects.get("a rule allows whatever the address is");
  if (subject === undefined) throw new Error("the planted hole has another name");
  const sends = { name: "send_mail", arguments: { to: "eve@example.org", text: "b" } };
  const { simulation } = await look(subject, {
    schedule: {
      durable: true,
      deviations: [
        { at: "model 1", does: "breaks-off" },
        { at: "model 2", does: "proposes", calls: [{ name: "read_mail", arguments: {} }] },
        { at: "tool read_mail 1", does: "hangs-after" },
        { at: "step 3", does: "stalls" },
        { at: "model 3", does: "proposes", calls: [sends] },
      ],
    },
  });
  expect(simulation.counts["effects"]).toBe(2);
  expect(simulation.failure?.message).toBeUndefined();
});

it("is not broken by children beside each other, one of which goes on in a process that did not see the other", async () => {
  const inputSchema = { type: "object", properties: {} };
  const look = fakeTool("look", "", { effect: "read", inputSchema });
  const pay = fakeTool("pay", "", { effect: "irreversible", inputSchema });
  const careful: Policy = ({ tool }) => ({
    verdict: tool === "pay" ? "ask" : "allow",
    rule: tool,
    reason: "",
  });
  const plain = { model: () => "", policy: careful };
  const child = agent({ ...plain, name: "child", description: "", tools: [look, pay] });
  const boss = agent({ ...plain, name: "boss", tools: [child.asTool()], budget: { toolCalls: 5 } });
  const [asks, pays, looks] = ["child", "pay", "look"].map((name) => ({
    name,
    arguments: name === "child" ? { input: "go" } : {},
  }));
  const proposes = (at: string, ...calls: unknown[]) => ({ at, does: "proposes", calls });
  const { failure, counts } = await simulate(boss, {
    invariants: sentenceInvariants(boss, [{ type: "bound", of: "toolCalls", most: 5 }]),
    schedule: {
      durable: true,
      deviations: [
        proposes("model 1", asks, asks),
        proposes("model 2", pays),
        proposes("model 3", looks, looks),
        proposes("model 5", looks),
      ],
    } as never,
  });
  expect(failure?.message).toBeUndefined();
  expect(counts).toMatchObject({ questions: 1, calls: 3 });
});
