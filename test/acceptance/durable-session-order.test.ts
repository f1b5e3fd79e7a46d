import { describe, expect, it } from "vitest";
import { durableRuns, type RunStore } from "../../src/durable.ts";
import { agent, inMemorySessions, session, tool } from "../../src/index.ts";
import { textOf } from "../../src/doors.ts";
import type { ModelRequest } from "../../src/models.ts";
import { durablePlaces, storesIn } from "./durable-place.ts";

const inputSchema = { type: "object", properties: {} } as const;

/** An agent that looks, which takes its time, and then pays. A model that was told of a payment does not pay again. */
function scene(open: () => RunStore) {
  const paid: string[] = [];
  const looking = Promise.withResolvers<void>();
  const mayLook = Promise.withResolvers<void>();
  const look = tool({
    name: "look",
    description: "Looks",
    effect: "read",
    inputSchema,
    async execute() {
      looking.resolve();
      await mayLook.promise;
      return "open";
    },
  });
  const pay = tool({
    name: "pay",
    description: "Pays",
    effect: "irreversible",
    inputSchema,
    execute: () => `receipt ${paid.push("A1")}`,
  });
  const model = ({ messages }: Pick<ModelRequest, "messages">) => {
    const told = messages.map((message) => ("text" in message ? message.text : textOf(message)));
    if (told.some((text) => text.includes("receipt"))) return "It is paid.";
    return { calls: [{ name: messages.at(-1)?.role === "tool" ? "pay" : "look" }] };
  };
  const payer = agent({
    name: "payer",
    model,
    tools: [look, pay],
    policy: () => ({ verdict: "allow", rule: "pays", reason: "" }),
  });
  const kept = inMemorySessions();
  const begin = () => durableRuns({ store: open(), agents: [payer], sessions: (id) => session(kept, id) });
  return { payer, paid, begin, looking: looking.promise, endLook: mayLook.resolve };
}

describe.each(durablePlaces)("two runs of a session in %s", (where) => {
  const open = storesIn(where);

  it("go on one after another after a restart: the one that was handed over first, so that nothing is paid twice", async () => {
    const { payer, paid, begin, looking, endLook } = scene(open);
    const before = begin();
    const worker = before.work();
    await before.start(payer, "Pay A1", { id: "first", session: "kim" });
    await looking;
    await before.start(payer, "Pay A1", { id: "second", session: "kim" });
    const drained = worker.drain();
    endLook();
    await drained;
    expect((await before.show("first"))?.status).toBe("ready");

    const after = begin();
    await using _working = after.work();
    const ends = [(await after.result("first")).outcome, (await after.result("second")).outcome];
    expect(ends).toMatchObject([{ type: "answered" }, { type: "answered", content: "It is paid." }]);
    expect(paid).toHaveLength(1);
  });
});
