import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { agent, fs, tool } from "../../src/index.ts";
import type { Message } from "../../src/message/message.ts";
import { scripted } from "../../src/testing.ts";

const folder = mkdtempSync(join(tmpdir(), "outside-"));
writeFileSync(join(folder, "secret.txt"), "secret");

/** An agent with wider grants than the call around it has. */
const wide = (): ReturnType<typeof agent> => {
  const look = tool({
    name: "look",
    description: "d",
    inputSchema: { type: "object" },
    needs: [fs.read(folder)],
    execute: (_args, context) => context.fs.readText(join(folder, "secret.txt")),
  });
  return agent({
    name: "wide",
    model: scripted([{ calls: [{ name: "look", arguments: {} }] }, "ok"]),
    tools: [look],
    grants: [fs.read(folder)],
  });
};

async function lookedAt(begin: () => Promise<unknown>): Promise<unknown> {
  let seen: unknown;
  const outer = tool({
    name: "outer",
    description: "d",
    inputSchema: { type: "object" },
    needs: [],
    execute: async () => {
      seen = await begin();
      return "done";
    },
  });
  await agent({
    name: "a",
    model: scripted([{ calls: [{ name: "outer", arguments: {} }] }, "ok"]),
    tools: [outer],
  }).run("x");
  return seen;
}

const inside = async (): Promise<string | undefined> => {
  const { transcript } = await wide().run("x");
  return transcript.messages.flatMap((message: Message) =>
    message.role === "tool" ? [message.status] : [],
  )[0];
};

it.each<[string, () => Promise<unknown>]>([
  ["at once", inside],
  ["after a timer of its own", () => sleep(5).then(inside)],
  ["in a microtask", () => Promise.resolve().then(inside)],
  ["in the next tick", () => new Promise((resolve) => process.nextTick(() => resolve(inside())))],
  ["in setImmediate", () => new Promise((resolve) => setImmediate(() => resolve(inside())))],
])("a run that code of a call begins %s has no more than the call", async (_what, begin) => {
  expect(await lookedAt(begin)).toBe("denied");
});

it("a queue that was there before the call is outside of it, as docs/capabilities.md says: only isolation holds its code", async () => {
  const waiting: (() => void)[] = [];
  const timer = setInterval(() => waiting.splice(0).forEach((begin) => begin()), 5);
  const status = await lookedAt(() => new Promise((resolve) => void waiting.push(() => resolve(inside()))));
  clearInterval(timer);
  expect(status).toBe("ok");
});
