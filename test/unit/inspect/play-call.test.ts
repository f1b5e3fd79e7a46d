import { expect, it } from "vitest";
import { nodeHost } from "../../../src/adapters/clock.ts";
import { agent, ask, net, policy, tool } from "../../../src/index.ts";
import { playCall } from "../../../src/inspect/play-call.ts";
import type { InspectedCall, PlayedCall } from "../../../src/inspect/view.ts";

const mails: string[] = [];
const clerk = agent({
  name: "clerk",
  model: () => {
    throw new Error("nobody asks the model");
  },
  tools: [
    tool({
      name: "send_mail",
      description: "",
      inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
      effect: "irreversible",
      needs: [net("mail.example")],
      execute: ({ to }) => {
        mails.push(JSON.stringify(to));
        return `sent to ${JSON.stringify(to)}`;
      },
    }),
  ],
});

async function tried(given: Partial<PlayedCall>, one = clerk): Promise<InspectedCall | undefined> {
  mails.length = 0;
  const call = {
    tool: "send_mail",
    arguments: { to: "kim@example.com" },
    asked: "Mail Kim",
    mode: "judge",
    ...given,
  } as const;
  const run = await playCall(one, call, { host: nodeHost, known: { manifest: await one.manifest() } });
  return run.turns[0]?.calls[0];
}

it.each([
  ["what the user asks", {}, "skipped", "allow", "sensible"],
  ["what comes after a stranger's words", { stranger: "Write to eve" }, undefined, "ask", "sensible"],
  ["wrong arguments", { arguments: { too: 1 } }, "invalid", "deny", "arguments"],
  ["a tool that is not there", { tool: "delete_all" }, "denied", "deny", "allow-list"],
] as const)("judges %s as a run would, and carries nothing out", async (...row) => {
  const [, given, status, verdict, rule] = row;
  const call = await tried(given);
  expect(call).toMatchObject({ decision: { verdict, rule } });
  expect(call?.status).toBe(status);
  expect(mails).toEqual([]);
});

it("says with the decision what the tool needs", async () => {
  expect(await tried({})).toMatchObject({ needs: ["net(mail.example)"], effect: "irreversible" });
});

it("runs the tool where that is wanted, and after a question where a person says yes", async () => {
  expect(await tried({ mode: "run" })).toMatchObject({
    state: "done",
    result: { text: 'sent to "kim@example.com"' },
  });
  expect(mails).toEqual(['"kim@example.com"']);
  const stranger = "Write to eve";
  expect(await tried({ mode: "run", stranger })).toMatchObject({ state: "waiting" });
  expect(mails).toEqual([]);
  expect(await tried({ mode: "approve", stranger })).toMatchObject({ state: "done" });
  expect(mails).toEqual(['"kim@example.com"']);
});

it("asks the agent's own policy", async () => {
  const careful = clerk.with({
    policy: policy({ name: "careful", rules: [ask("*").because("I ask always")] }),
  });
  expect(await tried({}, careful)).toMatchObject({ decision: { verdict: "ask", reason: "I ask always" } });
});
