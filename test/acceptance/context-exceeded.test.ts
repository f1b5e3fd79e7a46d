import { describe, expect, it } from "vitest";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, type AgentEvent, isFact, memoryJournal } from "../../src/index.ts";
import type { Delta, Model } from "../../src/model/model.ts";
import { fakeTool } from "../../src/testing.ts";

/** A model that looks three times and answers, and takes so many messages in a request. */
function narrow(most: number): Model & { readonly sent: number[] } {
  const sent: number[] = [];
  return {
    id: "narrow",
    features: { tools: true },
    price: () => 0,
    sent,
    async *stream({ messages }): AsyncGenerator<Delta> {
      sent.push(messages.length);
      await Promise.resolve();
      if (messages.length > most) {
        const reason = `prompt is too long: ${messages.length} > ${most} maximum`;
        throw new WritError("context-exceeded", { provider: "p", model: "narrow", reason });
      }
      const answered = sent.length > 3;
      if (answered) yield { type: "text-delta", text: "Seen." };
      else {
        yield { type: "call-start", id: "c", name: "look" };
        yield { type: "call-end", id: "c", arguments: {} };
      }
      yield { type: "end", finishReason: answered ? "stop" : "tool-calls" };
    },
  };
}

const compaction = { atTokens: 1_000_000, keepTurns: 1 };

describe("a request that is longer than the model takes", () => {
  it("is made again without old turns, once, where the agent compacts", async () => {
    const [model, look] = [narrow(6), fakeTool("look", "seen")];
    const events: AgentEvent[] = [];
    const onEvent = (event: AgentEvent): void => void events.push(event);
    const { text, turns } = await agent({ name: "a", model, tools: [look], compaction }).run("Look.", {
      onEvent,
    });
    expect([text, turns, look.calls.length]).toEqual(["Seen.", 4, 3]);
    expect(model.sent.slice(0, 4)).toEqual([2, 4, 6, 8]);
    expect(model.sent).toHaveLength(5);
    expect(model.sent[4]).toBeLessThan(6);
    const told = events
      .map(({ type }) => type)
      .filter((type) => type === "compaction-end" || type === "retry-start");
    expect(told).toEqual(["compaction-end", "retry-start"]);
  });

  it("ends the run when it is too long without old turns as well, and where nothing can go", async () => {
    const tools = [fakeTool("look", "seen")];
    const twice = narrow(2);
    await expect(agent({ name: "a", model: twice, tools, compaction }).run("Look.")).rejects.toMatchObject({
      code: "context-exceeded",
      retryable: false,
    });
    expect(twice.sent).toEqual([2, 4]); // the one turn that there is stays
    const never = narrow(1);
    await expect(agent({ name: "a", model: never, tools, compaction }).run("Look.")).rejects.toMatchObject({
      code: "context-exceeded",
    });
    expect(never.sent).toEqual([2]);
  });

  it("ends the run where the agent does not compact, with what to do", async () => {
    const model = narrow(6);
    const asked = agent({ name: "a", model, tools: [fakeTool("look", "seen")] }).run("Look.");
    await expect(asked).rejects.toMatchObject({
      code: "context-exceeded",
      hint: expect.stringMatching(/[Ss]horten the input.*compaction/) as string,
    });
    expect(model.sent).toHaveLength(4);
  });

  it("is compacted at the same place in a replay, which asks nobody", async () => {
    const journal = memoryJournal();
    const summarise = (): string => "It looked.";
    const run = async (model: Model, records?: (typeof journal)["records"]) => {
      const facts: object[] = [];
      const onEvent = (event: AgentEvent): void => {
        if (!isFact(event)) return;
        const { at: _at, runId: _runId, ...fact } = event;
        facts.push(fact);
      };
      const own = records === undefined ? journal : memoryJournal(records);
      const looking = agent({
        name: "a",
        model,
        tools: [fakeTool("look", "seen")],
        compaction: { ...compaction, summarise },
      });
      const { text, transcript } = await looking.run("Look.", { journal: own, onEvent });
      return { text, facts, messages: transcript.messages };
    };
    const first = await run(narrow(6));
    const silent = narrow(0);
    expect(await run(silent, journal.records)).toEqual(first);
    expect(silent.sent).toEqual([]);
    expect(first.messages.some((message) => JSON.stringify(message).includes("It looked."))).toBe(true);
  });
});
