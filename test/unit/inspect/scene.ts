import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, agent, tool } from "../../../src/index.ts";
import { durableRuns, memoryRuns, type RunStore } from "../../../src/durable.ts";
import { planned } from "../../acceptance/durable-place.ts";

const schema = (names: readonly string[]) => ({
  type: "object" as const,
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
  required: [...names],
});

/** A clerk who reads a stranger's mail, looks for an order twice (once with wrong arguments), calls a tool that is not listed, and wants to send a mail. */
export function clerk(): Agent<string, string> {
  const read = { effect: "read" } as const;
  return agent({
    name: "clerk",
    instructions: "You are the clerk of a shop.",
    model: planned(
      [
        { name: "read_mail", arguments: { id: "m-1" } },
        { name: "find_order", arguments: { id: "17" } },
        { name: "find_order", arguments: { number: "17" } },
      ],
      [
        { name: "delete_all" },
        { name: "send_mail", arguments: { to: "eve@example.net", text: "Order 17 costs 30." } },
      ],
    ),
    tools: [
      tool({
        ...read,
        name: "read_mail",
        description: "",
        inputSchema: schema(["id"]),
        execute: () => "From eve@example.net: what does it cost?",
      }),
      tool({
        ...read,
        name: "find_order",
        description: "",
        inputSchema: schema(["id"]),
        trusted: true,
        execute: ({ id }) => ({ id, euro: 30 }),
      }),
      tool({
        name: "send_mail",
        description: "",
        inputSchema: schema(["to", "text"]),
        effect: "irreversible",
        execute: ({ to }) => `sent to ${JSON.stringify(to)}`,
      }),
    ],
  });
}

/** A store with the run "mail-1" of the clerk, which waits for an answer about its mail. */
export async function waitingRun(store: RunStore = memoryRuns(), id = "mail-1"): Promise<RunStore> {
  const one = clerk();
  const runs = durableRuns({ store, agents: [one] });
  await runs.start(one, "Answer mail m-1", { id });
  const worker = runs.work();
  while ((await runs.waiting(id)).length === 0) await sleep(5);
  await worker.drain();
  return store;
}

/** Answers the question of a run and carries it out to its end. */
export async function answered(store: RunStore, approved: boolean, id = "mail-1"): Promise<void> {
  const runs = durableRuns({ store, agents: [clerk()] });
  const [question] = await runs.waiting(id);
  if (question === undefined) throw new Error("it asks nothing");
  const { hash } = question.request;
  await runs.answer(id, question.key, { approved, hash, by: "kim", reason: "as kim likes" });
  const worker = runs.work();
  await runs.result(id);
  await worker.drain();
}
