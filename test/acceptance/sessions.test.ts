import { describe, expect, it, onTestFinished, vi } from "vitest";
import { agent, inMemorySessions, memoryJournal, session, tool } from "../../src/index.ts";
import { forkSession } from "../../src/session.ts";
import type { AgentEvent } from "../../src/event/event.ts";
import type { Message } from "../../src/message/message.ts";
import type { PlainReply } from "../../src/model/function-model.ts";
import { fakeTool, scripted, type ScriptedModel } from "../../src/testing.ts";
import { providerComplaints } from "../provider-rules.ts";

const look = (): PlainReply => ({ calls: [{ name: "look", arguments: {} }] });

/** What each request to the model had: roles, and the texts of results. */
function sent({ requests }: ScriptedModel): string[][] {
  return requests.map(({ messages }) =>
    messages.map((message) => (message.role === "tool" ? message.text : message.role)),
  );
}

const roles = (messages: readonly Message[]): string[] => messages.map(({ role }) => role);

describe("sessions of an agent", () => {
  it("case 39: the model is not sent the tool traces of earlier runs, but those of the current one [C34, C42]", async () => {
    const model = scripted([look(), "first answer", look(), look(), "second answer"]);
    const talker = agent({
      name: "talker",
      model,
      instructions: "Look.",
      tools: [fakeTool("look", "seen")],
      markResults: false,
    });
    const store = inMemorySessions();
    await talker.run("one", { session: session(store, "s") });
    await talker.run("two", { session: session(store, "s") });
    const before = ["system", "user", "assistant", "user"];
    expect(sent(model)).toEqual([
      ["system", "user"],
      ["system", "user", "assistant", "seen"],
      before,
      [...before, "assistant", "seen"],
      [...before, "assistant", "seen", "assistant", "seen"],
    ]);
    expect(model.requests[2]?.messages[2]).toEqual({
      role: "assistant",
      parts: [{ type: "text", text: "first answer" }],
      label: { integrity: "untrusted", secrecy: "public", sources: ["tool/look"] },
    });
    for (const { messages } of model.requests) expect(providerComplaints(messages)).toEqual([]);
    const { version, runs } = await store.read("s");
    expect(version).toBe(2);
    expect(runs.map(({ messages }) => roles(messages))).toEqual([
      ["user", "assistant", "tool", "assistant"],
      ["user", "assistant", "tool", "assistant", "tool", "assistant"],
    ]);
  });

  it("case 39: the traces are sent to an author who asks for all, and every provider takes them [C34]", async () => {
    const model = scripted([look(), "first", look(), "second"]);
    const talker = agent({ name: "talker", model, tools: [fakeTool("look", "seen")] });
    const talk = session(inMemorySessions(), "s", { history: "all" });
    await talker.run("one", { session: talk });
    await talker.run("two", { session: talk });
    const messages = model.requests.at(-1)?.messages ?? [];
    expect(messages.filter(({ role }) => role === "tool")).toHaveLength(2);
    expect(providerComplaints(messages)).toEqual([]);
  });

  it("keeps a run however it ends, and tells the next one that there was no answer [C42]", async () => {
    const store = inMemorySessions();
    const stop = new AbortController();
    const halt = tool({
      name: "look",
      description: "",
      inputSchema: { type: "object", properties: {} },
      execute: () => stop.abort("enough"),
    });
    const model = scripted([look(), look(), "at last"]);
    const talker = agent({ name: "talker", model, tools: [halt], budget: { turns: 1 } });
    const talk = { session: session(store, "s") };
    expect((await talker.run("one", { ...talk, signal: stop.signal })).outcome.type).toBe("cancelled");
    expect((await talker.run("two", talk)).outcome.type).toBe("exhausted");
    expect((await talker.run("three", talk)).outcome.type).toBe("answered");
    expect((await store.read("s")).runs.map(({ outcome }) => outcome.type)).toEqual([
      "cancelled",
      "exhausted",
      "answered",
    ]);
    const told = model.requests.at(-1)?.messages ?? [];
    expect(JSON.stringify(told)).toMatch(
      /No answer: the run was cancelled.*No answer: a bound of the run was used up/,
    );
    const unanswered = ["user", "assistant", "user", "assistant"]; // the question and its end, then what was done
    expect(roles(told).filter((role) => role !== "system")).toEqual([...unanswered, ...unanswered, "user"]);
  });

  it("tells the next run the answer that a hook gave, and not the one that it took away", async () => {
    const model = scripted(["Call Kim at 0815.", "Sure."]);
    const hooks = [{ afterRun: () => ({ output: "Call Kim." }) }];
    const talker = agent({ name: "talker", model, hooks });
    const store = inMemorySessions();
    await talker.run("one", { session: session(store, "s") });
    await talker.run("two", { session: session(store, "s") });
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("Call Kim.");
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("0815");
  });

  it("lets the later of two runs at once wait, and keeps both whole [C42]", async () => {
    const store = inMemorySessions();
    await store.create("s");
    const talker = agent({ name: "talker", model: ({ messages }) => `${messages.length}` });
    const ends = await Promise.all(
      ["one", "two"].map((input) => talker.run(input, { session: session(store, "s") })),
    );
    expect(ends.map(({ text }) => text)).toEqual(["1", "3"]); // what each was sent: the later one knows of the earlier
    expect((await store.read("s")).runs).toHaveLength(2);
  });

  it("goes on from a fork without touching what it was forked from [C42]", async () => {
    const store = inMemorySessions();
    const model = scripted(["one", "two", "another two"]);
    const talker = agent({ name: "talker", model });
    for (const input of ["1", "2"]) await talker.run(input, { session: session(store, "s") });
    await forkSession(store, "s", { newId: "fork", atRun: 1 });
    await talker.run("2 again", { session: session(store, "fork") });
    expect(roles(model.requests.at(-1)?.messages ?? [])).toEqual(["user", "assistant", "user"]);
    expect((await store.read("s")).runs.map(({ outcome }) => outcome)).toMatchObject([
      { content: "one" },
      { content: "two" },
    ]);
    expect((await store.read("fork")).runs.map(({ outcome }) => outcome)).toMatchObject([
      { content: "one" },
      { content: "another two" },
    ]);
  });
});

describe("compaction in a run", () => {
  it("takes whole old turns out of what the model is sent, and tells it [K9]", async () => {
    const turns = 12;
    const seen = "x".repeat(400);
    const model = scripted([...Array.from({ length: turns }, look), "done"]);
    const summaries: number[] = [];
    const worker = agent({
      name: "worker",
      instructions: "Work.",
      model,
      tools: [fakeTool("look", () => seen)],
      budget: { turns: turns + 1, repeats: Infinity },
      compaction: {
        atTokens: 500,
        summarise: (messages) => `${summaries.push(messages.length)} times looked`,
      },
    });
    const events: AgentEvent[] = [];
    const journal = memoryJournal();
    for await (const event of worker.stream("the task", { journal })) events.push(event);
    const told = events.filter((event) => event.type === "compaction-end");
    expect(told.length).toBeGreaterThan(1);
    for (const { droppedTurns, tokensBefore, tokensAfter } of told) {
      expect(droppedTurns).toBeGreaterThan(1);
      expect(tokensBefore).toBeGreaterThan(500);
      expect(tokensAfter).toBeLessThan(tokensBefore);
    }
    for (const { messages } of model.requests) {
      expect(providerComplaints(messages)).toEqual([]);
      expect(messages.filter(({ role }) => role === "tool").length).toBeLessThanOrEqual(5);
      expect(JSON.stringify(messages)).toContain("the task");
    }
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain(`${summaries.length} times looked`);

    const asked = summaries.length;
    const replayed = await worker.run("the task", { journal: memoryJournal(journal.records) });
    expect([replayed.text, summaries.length]).toEqual(["done", asked]);
  });

  it("waits with a summary that gains too little, and warns of it once", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    onTestFinished(() => warned.mockRestore());
    let summaries = 0;
    const worker = agent({
      name: "pinned-worker",
      instructions: "x".repeat(2000), // all of the 500 tokens
      model: scripted([...Array.from({ length: 12 }, look), "done"]),
      tools: [fakeTool("look", () => "x".repeat(60))],
      budget: { turns: 13, repeats: Infinity },
      compaction: { atTokens: 500, summarise: () => `summary ${(summaries += 1)}` },
    });
    expect((await worker.run("the task")).text).toBe("done");
    expect(summaries).toBeLessThan(4);
    const told = warned.mock.calls.filter(([text]) =>
      String(text).includes(`compaction of agent "pinned-worker"`),
    );
    expect(told.map(([, options]) => options)).toMatchObject([{ code: "WRIT_COMPACTION_WAITS" }]);
  });

  it("is not written a second time by a run that is played again [C42]", async () => {
    const store = inMemorySessions();
    const talker = agent({ name: "talker", model: scripted(["one", "two"]) });
    const journal = memoryJournal();
    await talker.run("1", { journal, session: session(store, "s") });
    await talker.run("2", { session: session(store, "s") });
    const again = memoryJournal(journal.records);
    expect((await talker.run("1", { journal: again, session: session(store, "s") })).text).toBe("one");
    expect((await store.read("s")).runs).toHaveLength(2);
  });
});
