import { describe, expect, it, onTestFinished } from "vitest";
import { pipe } from "../../src/compose.ts";
import { type DurableRuns, durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, inMemorySessions, type Policy, type Runnable, session, tool } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";

const none = { type: "object" } as const;
const about = { description: "", inputSchema: none, effect: "read" } as const;
const listens = tool({ ...about, name: "listens", execute: (_none, { waitFor }) => waitFor("word") });
const pays = fakeTool("pays", "paid", { effect: "write" });

/** A model that calls these tools one after another in each run, and then answers. */
const calling =
  (...names: readonly string[]) =>
  ({ messages }: { readonly messages: readonly { readonly role: string }[] }) => {
    const asked = messages.findLastIndex(({ role }) => role === "user");
    const name = names[messages.slice(asked).filter(({ role }) => role === "tool").length];
    return name === undefined ? "done" : { calls: [{ name, arguments: { input: "Go" } }] };
  };
const policy: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const waiter = agent({ name: "waiter", model: calling("pays", "listens"), tools: [pays, listens], policy });
const inside = tool({
  ...about,
  name: "inside",
  execute: async (_none, { run: parent }) => (await waiter.run("Go", { parent })).text,
});
const asks = { name: "asks", description: "", allow: ["pays", "listens"] };
const plain = agent({ name: "plain", model: () => "first" });

const places: readonly (readonly [where: string, who: Runnable])[] = [
  ["itself", waiter],
  ["in an agent inside", agent({ name: "outer", model: calling("asks"), tools: [waiter.asTool(asks)] })],
  ["in a run that a tool began", agent({ name: "outer", model: calling("inside"), tools: [inside], policy })],
  ["in a composition", pipe(plain, waiter)],
];

const sessions = inMemorySessions();

/** A run that waits for a word. */
async function waiting(who: Runnable, id: string): Promise<DurableRuns> {
  const open = (name: string) => session(sessions, name);
  const runs = durableRuns({ store: memoryRuns(), agents: [who], sessions: open });
  const worker = runs.work();
  onTestFinished(() => worker.drain());
  await runs.start(who, "Go" as never, { id, session: id });
  await expect.poll(async () => (await runs.waiting(id)).length).toBe(1);
  return runs;
}

const facts = async (runs: DurableRuns, id: string, isInside: boolean): Promise<readonly string[]> =>
  (await Array.fromAsync(runs.events(id, { inside: isInside }))).map(({ at: _at, ...fact }) =>
    JSON.stringify(fact),
  );

describe.each(places)("a durable run that waits for a signal %s", (where, who) => {
  it.each([false, true])(
    "is followed while it waits until it ends, with agents inside: %s",
    async (isInside) => {
      const id = `followed ${where} ${isInside}`;
      const runs = await waiting(who, id);
      const following = facts(runs, id, isInside);
      await new Promise((resolve) => setTimeout(resolve, 50)); // read while it waits
      await runs.signal(id, { name: "word", value: "now" });
      expect((await runs.result(id)).outcome.type).toBe("answered");
      const told = await following;
      expect(told).toEqual(await facts(runs, id, isInside));
      expect(told.at(-1)).toContain('"answered"');
    },
  );

  it("is told as cancelled, to its session too", async () => {
    const id = `cancelled ${where}`;
    const runs = await waiting(who, id);
    await runs.cancel(id);
    expect((await runs.replay(id)).outcome.type).toBe("cancelled");
    expect((await facts(runs, id, false)).at(-1)).toContain('"cancelled"');
    if (where === "in a composition") return; // it keeps no conversation
    expect((await sessions.read(id)).runs).toMatchObject([{ outcome: { type: "cancelled" } }]);
  });
});
