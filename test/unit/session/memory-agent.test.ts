import { describe, expect, it } from "vitest";
import type { Message } from "../../../src/message/message.ts";
import type { PlainReply } from "../../../src/model/function-model.ts";
import type { ModelRequest } from "../../../src/model/model.ts";
import { agent, skill, tool } from "../../../src/index.ts";
import { memoryBank, type MemoryBank } from "../../../src/session/memory-bank.ts";
import { scripted } from "../../../src/testing.ts";

const noFields = { type: "object", properties: {} } as const;

/** The results of the calls of the last reply. */
function lastResults(messages: readonly Message[]): string[] {
  const after = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  return after.map((message) => (message.role === "tool" ? message.text : ""));
}

/** A model that reads two numbers in its memory, says the next one and writes down the last two. Each reply depends on what it is sent. */
function fibonacci({ messages }: ModelRequest): string | PlainReply {
  const replies = messages.filter(({ role }) => role === "assistant").length;
  const read = messages.find((message) => message.role === "tool" && message.name === "memory_read");
  const [older, newer] =
    read?.role === "tool" && read.text !== "" ? read.text.split("|").map(Number) : [0, 1];
  const next = read?.role === "tool" && read.text === "" ? 1 : (older ?? 0) + (newer ?? 0);
  if (replies === 0) return { calls: [{ name: "memory_read", arguments: {} }] };
  const content = read?.role === "tool" && read.text === "" ? "0|1" : `${newer}|${next}`;
  if (replies === 1) return { calls: [{ name: "memory_write", arguments: { content } }] };
  return String(next);
}

function memoryOf(bank: MemoryBank, name: string): ReturnType<typeof agent> {
  return agent({ name, instructions: "Say the next Fibonacci number.", model: fibonacci, memory: bank });
}

describe("an agent with a memory", () => {
  it("case 19: remembers from run to run: a Fibonacci agent gives 1, 1, 2, 3, 5, and goes on from 21|34 with 55 [K8.2]", async () => {
    const bank = memoryBank();
    const numbers = memoryOf(bank, "numbers");
    const given: string[] = [];
    for (let run = 0; run < 5; run += 1) given.push(await numbers("next"));
    expect(given).toEqual(["1", "1", "2", "3", "5"]);
    expect(await bank.read("numbers")).toBe("3|5");

    const seeded = memoryBank();
    await seeded.write("numbers", "21|34");
    expect(await memoryOf(seeded, "numbers")("next")).toBe("55");
    expect(await seeded.read("numbers")).toBe("34|55");
  });

  it("case 19: has the memory tools without listing them, beside its own, and no other agent does [K8.1]", async () => {
    const own = tool({ name: "own", description: "own", inputSchema: noFields, execute: () => "" });
    const remembers = agent({ name: "r", model: scripted(["ok"]), tools: [own], memory: memoryBank() });
    expect(remembers.skills[0]?.tools).toEqual(["own", "memory_read", "memory_write", "memory_search"]);
    const model = scripted([{ calls: [{ name: "memory_read", arguments: {} }] }, "ok"]);
    const forgets = agent({ name: "f", model, tools: [own] });
    const { transcript } = await forgets.run("go");
    expect(transcript.messages.find((message) => message.role === "tool")).toMatchObject({
      status: "denied",
    });
  });

  it("case 19: agents that share a bank have slots of their own, which the program sees [K8.3]", async () => {
    const bank = memoryBank();
    const writes = (name: string): Promise<unknown> =>
      agent({
        name,
        model: scripted([
          { calls: [{ name: "memory_write", arguments: { content: `of ${name}` } }] },
          "done",
        ]),
        memory: bank,
      }).run("go");
    await Promise.all([writes("one"), writes("two")]);
    const model = scripted([{ calls: [{ name: "memory_read", arguments: {} }] }, "done"]);
    const { transcript } = await agent({ name: "one", model, memory: bank }).run("go");
    expect(lastResults(transcript.messages.slice(0, -1))).toEqual(["of one"]);
    expect((await bank.slots()).toSorted()).toEqual(["one", "two"]);
    expect(await bank.read("two")).toBe("of two");
  });

  it("case 19: the line limit holds for what the model writes, and keeps the end; the model is told [K8.4]", async () => {
    const bank = memoryBank({ maxLines: 2 });
    const write = (content: string): PlainReply => ({
      calls: [{ name: "memory_write", arguments: { content } }],
    });
    const model = scripted([write("1\n2"), write("1\n2\n3"), "done"]);
    const { transcript } = await agent({ name: "a", model, memory: bank }).run("go");
    expect(await bank.read("a")).toBe("2\n3");
    const told = transcript.messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
    expect(told).toEqual([
      "Saved.",
      "Saved, but shortened: the memory does not keep so much. Read it to see.",
    ]);
  });

  it("case 19: searches in any case; nothing found is an empty result [K8.5]", async () => {
    const bank = memoryBank();
    await bank.write("a", "Tea costs 3\nCOFFEE costs 4\n");
    const search = (query: string): PlainReply => ({
      calls: [{ name: "memory_search", arguments: { query } }],
    });
    const model = scripted([search("coffee"), search("milk"), "done"]);
    const { transcript } = await agent({ name: "a", model, memory: bank }).run("go");
    const told = transcript.messages.flatMap((message) => (message.role === "tool" ? [message] : []));
    expect(told.map(({ status, text }) => [status, text])).toEqual([
      ["ok", "COFFEE costs 4"],
      ["ok", ""],
    ]);
  });

  it("reads in one turn what was written before it in that turn, and searches in it", async () => {
    const bank = memoryBank();
    const calls: NonNullable<PlainReply["calls"]> = [
      { name: "memory_read", arguments: {} },
      { name: "memory_write", arguments: { content: "first" } },
      { name: "memory_read", arguments: {} },
      { name: "memory_write", arguments: { content: "second" } },
      { name: "memory_search", arguments: { query: "SEC" } },
    ];
    const { transcript } = await agent({ name: "a", model: scripted([{ calls }, "done"]), memory: bank }).run(
      "go",
    );
    expect(lastResults(transcript.messages.slice(0, -1))).toEqual([
      "",
      "Saved.",
      "first",
      "Saved.",
      "second",
    ]);
  });

  it("a skill can do without the memory of its agent [K8.6]", () => {
    const about = { description: "d", tools: [] };
    const both = agent({
      name: "a",
      model: scripted(["ok"]),
      memory: memoryBank(),
      selectSkill: () => "with",
      skills: [skill({ name: "with", ...about }), skill({ name: "without", ...about, memory: false })],
    });
    expect(both.skills.map(({ tools }) => tools)).toEqual([
      ["memory_read", "memory_write", "memory_search"],
      [],
    ]);
  });
});
