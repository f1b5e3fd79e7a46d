import { expect, it } from "vitest";
import { z } from "zod";
import { agent } from "../../../src/adapters/node.ts";
import { scripted } from "../../../src/model/scripted.ts";
import { guarded } from "../../../src/policy/study/guarded.ts";
import { planTool } from "../../../src/tool/plan-tool.ts";
import type { PlannedAct } from "../../../src/tool/planned-act.ts";
import { tool } from "../../../src/tool/tool.ts";

const read = tool({
  name: "read",
  description: "d",
  inputSchema: {},
  effect: "read",
  execute: () => "words",
});
const send = tool({
  name: "send",
  description: "d",
  inputSchema: z.object({ to: z.string(), text: z.string(), count: z.number().optional() }),
  effect: "irreversible",
  parameters: { to: { role: "target", type: "email" }, text: "content" },
  execute: () => "sent",
});
const slow = tool({
  name: "slow",
  description: "d",
  inputSchema: z.object({ to: z.string().refine(async (to) => to !== "nobody", "there is nobody") }),
  effect: "irreversible",
  execute: () => "done",
});

/** What the model is told of a plan that it makes after it read a stranger's words, and the questions to a person. */
async function planned(acts: readonly PlannedAct[]): Promise<{ told: string; asked: number }> {
  let asked = 0;
  const plan = { name: "plan_acts", arguments: { acts: acts.map((act) => ({ ...act })) } };
  const model = scripted([{ calls: [{ name: "read" }] }, { calls: [plan] }, "Done."]);
  const tools = [read, send, slow, planTool()];
  const { transcript } = await agent({ name: "a", model, tools, policy: guarded() }).run("Go", {
    approve: () => (asked += 1) > 0,
  });
  return { told: JSON.stringify(transcript.messages.at(-2)), asked };
}

const to = "bob@x.example";

it("a plan with an act whose arguments do not fit its tool is told which, and nobody is asked", async () => {
  const fits = { tool: "send", arguments: { to, text: "Hello" } };
  const missing = await planned([fits, { tool: "send", arguments: { to } }]);
  expect(missing).toMatchObject({ asked: 0, told: expect.stringContaining("acts[1].arguments.text: ") });
  const wrong = await planned([{ tool: "send", arguments: { to, text: "Hi", count: "many" } }]);
  expect(wrong).toMatchObject({ asked: 0, told: expect.stringContaining("acts[0].arguments.count: ") });
  const late = await planned([{ tool: "slow", arguments: { to: "nobody" } }]);
  expect(late).toMatchObject({
    asked: 0,
    told: expect.stringContaining("acts[0].arguments.to: there is nobody"),
  });
});

it("a plan may leave open or leave out what its acts need", async () => {
  const open = { tool: "send", arguments: { to }, free: ["text"] };
  expect(await planned([open, { tool: "send" }, { tool: "slow", arguments: { to } }])).toMatchObject({
    asked: 1,
    told: expect.stringContaining("planned: 3"),
  });
});
