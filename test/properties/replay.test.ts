import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agent, type AgentEvent, isFact, memoryJournal, tool } from "../../src/index.ts";
import type { Delta } from "../../src/model/model.ts";
import { scripted, type ScriptStep } from "../../src/testing.ts";
import { providerComplaints } from "../provider-rules.ts";

const name = fc.constantFrom("compute", "look", "change", "fails", "slow", "unknown", "__proto__");
const call = fc.record({
  id: fc.constantFrom("", "a", "b", "c d"),
  name,
  arguments: fc.oneof(
    fc.constant({ n: 1 }),
    fc.constant({}),
    fc.constant('{"n": 12345678901234567890}'),
    fc.constant('{"n": '),
    fc.constant([1]),
  ),
});
const reply = fc.record(
  {
    text: fc.string(),
    calls: fc.array(call, { maxLength: 4 }),
    finishReason: fc.constantFrom("stop" as const, "length" as const, "tool-calls" as const),
    usage: fc.constantFrom(undefined, { inputTokens: 3, outputTokens: 2 }, { inputTokens: -1 }),
  },
  { requiredKeys: ["text", "calls"] },
);
const protocolText = fc.oneof(
  fc.string(),
  fc.constant('{"final":{"content":[1,2]}}'),
  call.map((proposed) => JSON.stringify({ action: { tool: proposed.name, args: proposed.arguments } })),
);

/** Tools of every effect; how long they take differs from run to run, so that nothing may depend on which is faster. */
function tools(): Parameters<typeof agent>[0]["tools"] {
  const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
  const make = (
    toolName: string,
    effect: "none" | "read" | "write" | undefined,
    execute: (args: unknown) => unknown,
  ): ReturnType<typeof tool> =>
    tool({
      name: toolName,
      description: toolName,
      inputSchema: { type: "object", properties: { n: { type: "number", default: 4 } } },
      effect,
      execute,
    });
  return [
    make("compute", "none", (args) => args),
    make("look", "read", async (args) => (await wait(), args)),
    make("change", "write", async () => (await wait(), "changed")),
    make("slow", undefined, async () => (await wait(), { slow: true })),
    make("fails", "read", () => {
      throw new Error("it failed");
    }),
  ];
}

async function factsOf(stream: AsyncGenerator<AgentEvent>): Promise<string[]> {
  const facts: string[] = [];
  for await (const { at: _at, ...event } of stream) if (isFact(event)) facts.push(JSON.stringify(event));
  return facts;
}

describe("replay", () => {
  it("gives exactly the facts of the first run for any script, without asking the model or a tool again", async () => {
    const script = fc.array(reply, { minLength: 1, maxLength: 5 });
    const plain = fc.array(protocolText, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(script, plain),
        fc.boolean(),
        fc.nat(5),
        async (steps: readonly ScriptStep[], json, toolCalls) => {
          const journal = memoryJournal();
          const definition = {
            name: "a",
            tools: tools(),
            driver: json ? ("json" as const) : ("native" as const),
            budget: { toolCalls: toolCalls + 1 },
          };
          const first = agent({ ...definition, model: scripted(steps) });
          const facts = await factsOf(first.stream("go", { journal, runId: "r" }));
          const replayed = agent({
            ...definition,
            tools: tools(),
            model: { ...scripted([]), stream: never },
          });
          expect(
            await factsOf(replayed.stream("go", { journal: memoryJournal(journal.records), runId: "r" })),
          ).toEqual(facts);
          const result = await replayed.run("go", { journal: memoryJournal(journal.records), runId: "r" });
          expect(providerComplaints(result.transcript.messages)).toEqual([]);
        },
      ),
      { numRuns: 120 },
    );
  });

  it("goes on where a journal ends, and notices that the code changed", async () => {
    const journal = memoryJournal();
    const steps = [
      { calls: [{ name: "compute", arguments: { n: 1 } }] },
      { calls: [{ name: "look", arguments: { n: 2 } }] },
      "done",
    ];
    const full = agent({ name: "a", model: scripted(steps), tools: tools() });
    const first = await full.run("go", { journal, runId: "r" });
    for (let kept = 0; kept <= journal.records.length; kept += 1) {
      const asked = scripted(
        steps.slice(journal.records.slice(0, kept).filter(({ key }) => key.endsWith("/model")).length),
      );
      const resumed = await full
        .with({ model: asked })
        .run("go", { journal: memoryJournal(journal.records.slice(0, kept)), runId: "r" });
      expect(resumed.text).toBe(first.text);
      expect(resumed.transcript.toJSON()).toEqual(first.transcript.toJSON());
    }
    const changed = full
      .with({ tools: [], model: scripted(steps) })
      .run("go", { journal: memoryJournal(journal.records) });
    await expect(changed).rejects.toMatchObject({ code: "journal-mismatch" });
  });
});

async function* never(): AsyncGenerator<Delta> {
  yield* [];
  throw new Error("a replay asked the model");
}
