import { expect, it } from "vitest";
import { agent, type AgentEvent, isFact, type Model, type Policy } from "../../src/index.ts";
import { durableRuns, type DurableRuns, memoryRuns } from "../../src/durable.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const look = fakeTool("look", "seen", { effect: "read" });

async function factsOf(runs: DurableRuns, after = 0): Promise<Omit<AgentEvent, "at">[]> {
  const facts: Omit<AgentEvent, "at">[] = [];
  for await (const { at: _at, ...event } of runs.events("r", { after })) facts.push(event);
  return facts;
}

it("A durable run streams while a message is written, records it whole, and begins it anew where its process died in it", async () => {
  const script = scripted([{ calls: [{ name: "look" }] }, "It was seen.", "It was seen."]);
  let stalls = true;
  const model: Model = {
    ...script,
    async *stream(request, options) {
      let count = 0;
      for await (const delta of script.stream(request, options)) {
        yield delta;
        count += delta.type === "text-delta" ? 1 : 0;
        if (count === 1 && stalls) await new Promise(() => undefined); // the process dies in the middle of its message
      }
    },
  };
  const clerk = agent({ name: "clerk", model, tools: [look], policy: free });
  const told: AgentEvent[][] = [[], []];
  const inProcess = (which: number): DurableRuns =>
    durableRuns({ store: memoryRuns(), agents: [clerk], onEvent: (event) => void told[which]?.push(event) });
  const [first, second] = [inProcess(0), inProcess(1)];

  await first.start(clerk, "Look", { id: "r" });
  const worker = first.work();
  const deltas = (which: number) => (told[which] ?? []).filter(({ type }) => type === "text-delta");
  await expect.poll(() => deltas(0)).not.toEqual([]); // live, before there is a message
  expect((told[0] ?? []).filter(({ type }) => type === "message-end")).toHaveLength(1); // that of the call
  const text = await first.export("r"); // nothing that the process does is recorded any more
  void worker.drain({ graceMs: 0 });
  expect(text).not.toContain("It was seen.");
  const known = (told[0] ?? []).findLast(({ type }) => type === "turn-start")?.seq ?? 0;

  stalls = false;
  await second.import(text);
  const other = second.work();
  expect((await second.result("r")).output).toBe("It was seen.");
  await other.drain();
  // The second message begins anew for whoever watches: what was written of it before does not count.
  const starts = (told[1] ?? []).filter((event) => event.type === "message-start" && event.turn === 2);
  expect(starts).toHaveLength(1);
  expect(look.calls).toHaveLength(1);
  const facts = await factsOf(second);
  expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_fact, place) => place + 1));
  // A reader of the first process goes on in the second by the last fact that it knows, and misses nothing.
  expect(await factsOf(second, known)).toEqual(facts.slice(known));
  expect(facts.slice(known).filter(({ type }) => type === "message-end")).toHaveLength(1);
  const before = (told[0] ?? []).filter((event) => isFact(event) && event.seq <= known);
  expect(before.map(({ at: _at, ...fact }) => fact)).toEqual(facts.slice(0, known));
});
