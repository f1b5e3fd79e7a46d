import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { pipe } from "../../src/compose.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, guarded, skill, tool } from "../../src/index.ts";
import type { Label } from "../../src/message/label.ts";
import { scripted } from "../../src/testing.ts";

const send = (sent: string[]) =>
  tool({
    name: "send",
    description: "Sends a mail",
    effect: "irreversible",
    inputSchema: z.object({ to: z.string() }),
    execute: ({ to }) => `sent ${String(sent.push(to))}`,
  });
const address = { role: "target", type: "email" } as const;
const policy = guarded({ tools: { send: { effect: "irreversible", parameters: { to: address } } } });

/** A run whose tool starts a durable run with words that the model wrote. Returns where the inner run sent mails. */
async function sentBy(to: string, intent?: string): Promise<readonly string[]> {
  const sent: string[] = [];
  const store = memoryRuns();
  const sender = agent({
    name: "sender",
    model: scripted([{ calls: [{ name: "send", arguments: { to } }] }, "Done."]),
    tools: [send(sent)],
    policy,
  });
  const runs = durableRuns({ store, agents: [sender] });
  const hand = tool({
    name: "hand_over",
    description: "Has a mail sent later",
    effect: "write",
    inputSchema: z.object({ wish: z.string() }),
    execute: async ({ wish }) =>
      (await runs.start(sender, wish, { id: "inner", ...(intent === undefined ? {} : { intent }) })).id,
  });
  const wish = `Send the report to ${to}`;
  const outer = agent({
    name: "outer",
    model: scripted([{ calls: [{ name: "hand_over", arguments: { wish } }] }, "Done."]),
    tools: [hand],
  });
  await outer.run("Send the report to ada@example.org");
  await using _working = runs.work();
  while ((await runs.show("inner"))?.end === undefined && (await runs.waiting("inner")).length === 0)
    await sleep(5);
  return sent;
}

it("a durable run that a call starts has the user's words of the run around it: what the model wrote is nobody's choice", async () => {
  expect(await sentBy("eve@example.net")).toEqual([]);
  expect(await sentBy("ada@example.org")).toEqual(["ada@example.org"]);
  expect(await sentBy("eve@example.net", "Send it to eve@example.net")).toEqual(["eve@example.net"]); // the tool's author says whose words they are
});

it("a composition that a call starts has them too", async () => {
  const runs = durableRuns({ store: memoryRuns() });
  const one = agent({ name: "one", model: () => "one" });
  const both = pipe(one, one);
  const start = tool({
    name: "start",
    description: "Starts",
    inputSchema: z.object({}),
    execute: async () => JSON.stringify((await runs.start(both, "Hi", { id: "c" })).options),
  });
  const outer = agent({
    name: "outer",
    model: scripted([{ calls: [{ name: "start", arguments: {} }] }, "Done."]),
    tools: [start],
  });
  await outer.run("Begin");
  expect((await runs.show("c"))?.options).toMatchObject({ intent: "Begin" });
});

const diary = tool({
  name: "read_diary",
  description: "The diary",
  inputSchema: z.object({}),
  effect: "read",
  secrecy: "private",
  execute: () => "Kim is ill",
});
const all = () => ({ verdict: "allow", rule: "all", reason: "" }) as const;
const told = agent({ name: "told", model: () => "Yes." });
const plain = agent({
  name: "plain",
  skills: [skill({ name: "say", description: "Says", trusted: true, execute: () => "Yes." })],
});

it.each([
  ["an agent", told],
  ["a plain skill", plain],
  ["a composition", pipe(told, plain)],
])(
  "a durable run that a call starts has the label of the call, and a later start of it finds it: %s",
  async (_, inner) => {
    const runs = durableRuns({ store: memoryRuns(), agents: [inner] });
    const start = tool({
      name: "start",
      description: "Starts",
      inputSchema: z.object({ id: z.string() }),
      effect: "write",
      execute: async ({ id }) => (await runs.start(inner, "Is Kim ill?", { id })).id,
    });
    const begin = (id: string) => ({ name: "start", arguments: { id } });
    const steps = [begin("before"), { name: "read_diary" }, begin("before"), begin("after")];
    const model = scripted([...steps.map((call) => ({ calls: [call] })), "Done."]);
    const { calls } = await agent({ name: "outer", model, tools: [diary, start], policy: all }).run("Begin");
    expect(calls.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
    await using _working = runs.work();
    await Promise.all(["before", "after"].map((id) => runs.result(id)));
    expect((await runs.replay("before")).label).toMatchObject({ integrity: "untrusted", secrecy: "public" });
    expect((await runs.replay("after")).label).toMatchObject({
      integrity: "untrusted",
      secrecy: "private",
      sources: expect.arrayContaining(["input", "tool/read_diary"]) as string[],
    });
  },
);

it("a run takes the label of its input", async () => {
  const label: Label = {
    integrity: "trusted",
    secrecy: { readers: ["kim@example.org"] },
    sources: ["input"],
  };
  expect((await told.run("Am I ill?", { label })).label).toEqual(label);
  await expect(told.run("x", { label: { secrecy: "private" } as never })).rejects.toMatchObject({
    code: "definition-invalid",
  });
});
