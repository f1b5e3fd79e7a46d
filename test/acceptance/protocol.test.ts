import { describe, expect, it } from "vitest";
import { z } from "zod";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, memoryJournal, tool } from "../../src/index.ts";
import { chat, userMessage } from "../../src/doors.ts";
import { jsonDriver } from "../../src/drivers.ts";
import type { Model } from "../../src/model/model.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { add } from "./calculator.ts";

const upsert = tool({
  name: "kom.memory.v1.upsert_memory",
  description: "Save notes",
  inputSchema: z.object({ namespace: z.string(), items: z.array(z.object({ text: z.string() })) }),
  execute: ({ items }) => ({ upserted: items.length }),
});

const saveNote =
  '{"thought":"need to upsert note","action":{"tool":"kom.memory.v1.upsert_memory","args":{"namespace":"project:metal","items":[{"text":"Embedding model comparison takeaways"}]}}}';

const lastUserText = (model: ReturnType<typeof scripted>): string => {
  const message = model.requests.at(-1)?.messages.at(-1);
  return message?.role === "user" && message.parts[0]?.type === "text" ? message.parts[0].text : "";
};

describe("JSON protocol", () => {
  it("cases 40 and 46: the note session; its result comes back, and the final value keeps its shape [P1.1, P2.1, P3.1, P6.1, P6.2, P7.1, P9.4, P10.1]", async () => {
    const replies = [saveNote, '{"final":{"content":{"status":"ok","upserted":1}}}'];
    const model = scripted(replies);
    const notes = agent({ name: "notes", model, driver: "json", tools: [upsert] });
    const result = await notes.run("Save this note");
    expect(result.outcome).toEqual({
      type: "answered",
      content: { status: "ok", upserted: 1 },
      finishReason: "stop",
    });
    expect(result.text).toBe('{"status":"ok","upserted":1}');
    expect(await notes.with({ model: scripted(replies) })("Save this note")).toEqual({
      status: "ok",
      upserted: 1,
    });
    const second = model.requests[1]?.messages ?? [];
    expect(second[2]).toEqual({ role: "assistant", parts: [{ type: "text", text: saveNote }] });
    const marked = { tool: "kom.memory.v1.upsert_memory", trusted: false, result: { upserted: 1 } };
    expect(lastUserText(model)).toBe(JSON.stringify(marked)); // what nobody vouches for says so, and stands once
    const own = notes.with({ model: scripted(replies), tools: [{ ...upsert, trusted: true }] });
    expect((await own.run("Save this note")).outcome).toEqual(result.outcome);
    expect(model.requests[0]?.tools).toEqual([]);
    const system = model.requests[0]?.messages[0];
    for (const clause of [
      `- kom.memory.v1.upsert_memory: Save notes\n  args: ${JSON.stringify(upsert.input.jsonSchema)}`,
      "exactly one JSON object and nothing else: no markdown, no commentary",
      '{"thought": "<short note>", "action": {"tool": "<name>", "args": {…}}}',
      '{"final": {"content": <your answer>}}',
      "Never invent tool names or fields.",
    ]) {
      expect(system?.role === "system" ? system.text : "").toContain(clause);
    }

    const typed = notes.with({
      model: scripted(['{"final":{"content":{"status":"ok"}}}']),
      output: z.object({ status: z.string() }),
    });
    expect(await typed("Save")).toEqual({ status: "ok" });
  });

  it("case 46: the note session with a tool that its author vouches for: its result is sent without a mark [P10.2]", async () => {
    const replies = [saveNote, '{"final":{"content":{"status":"ok","upserted":1}}}'];
    const model = scripted(replies);
    const tools = [{ ...upsert, trusted: true }];
    await agent({ name: "notes", model, driver: "json", tools }).run("Save this note");
    expect(lastUserText(model)).toBe(JSON.stringify({ tool: upsert.name, result: { upserted: 1 } }));
  });

  it("of several actions each gets its result before the next, until the end [P3.1]", async () => {
    const action = (a: number, b: number): string =>
      JSON.stringify({ action: { tool: "add", args: { a, b } } });
    const told: string[] = [];
    const model = scripted([
      action(3, 5),
      ({ messages }) => {
        told.push(JSON.stringify(messages.at(-1)));
        return action(8, 2);
      },
      ({ messages }) => {
        told.push(JSON.stringify(messages.at(-1)));
        return '{"final":{"content":10}}';
      },
      new Error("asked after the end"),
    ]);
    const result = await agent({ name: "a", model, driver: "json", tools: [add] }).run("3 + 5 + 2");
    expect(told).toEqual([
      expect.stringContaining('\\"result\\":8'),
      expect.stringContaining('\\"result\\":10'),
    ]);
    expect(result.outcome).toMatchObject({ type: "answered", content: 10 });
    expect(model.requests).toHaveLength(3);
  });

  it("case 41: prose, fences, two objects and trailing text are sent back; a good second try goes on, N bad ones are a typed error [P4.1, P7.3, P9.1]", async () => {
    const good = '{"final":{"content":"fine"}}';
    const bad = [
      `Sure! ${good}`,
      `\`\`\`json\n${good}\n\`\`\``,
      `${good}\n${good}`,
      `${good} Done.`,
      "",
      "[]",
      '{"a":1}',
      '{"action":{},"final":{}}',
    ];
    for (const text of bad) {
      const model = scripted([text, good]);
      const result = await agent({ name: "a", model, driver: "json", tools: [add] }).run("go");
      expect(result.outcome, text).toMatchObject({ type: "answered", content: "fine" });
      expect(lastUserText(model)).toMatch(
        /^Your reply was not accepted: .*exactly one JSON object and nothing else\.$/s,
      );
    }
    const stubborn = agent({
      name: "a",
      model: scripted(["no JSON"]),
      driver: "json",
      tools: [add],
      budget: { turns: 20 },
    });
    const result = await stubborn.run("go");
    expect(result).toMatchObject({
      turns: 4,
      outcome: { type: "failed", code: "protocol-violated" },
      error: { data: { driver: "json", count: 4 } },
    });
  });

  it("case 42: a tool that does not exist is refused and its arguments never run [P4.4, P9.2]", async () => {
    const model = scripted(['{"action":{"tool":"rm","args":{"path":"/"}}}', '{"final":{"content":"ok"}}']);
    const result = await agent({ name: "a", model, driver: "json", tools: [add] }).run("go");
    expect(lastUserText(model)).toBe(
      `{"tool":"rm","error":"Tool 'rm' is not allowed for skill 'a'. Allowed: [add]"}`,
    );
    expect(result.transcript.messages.at(-2)).toMatchObject({ status: "denied" });
  });

  it("cases 43 and 44: shows the schema of the one tool whose arguments were wrong, and cuts a long thought [P9.3]", async () => {
    const thought = "t".repeat(500);
    const model = scripted([
      JSON.stringify({ thought, action: { tool: "add", args: { a: "x" } } }),
      '{"final":{"content":"ok"}}',
    ]);
    const result = await agent({ name: "a", model, driver: "json", tools: [add, upsert] }).run("go");
    expect(lastUserText(model)).toContain("Tool 'add' received invalid arguments");
    expect(lastUserText(model)).toContain("first number");
    expect(lastUserText(model)).not.toContain("namespace");
    const reply = result.transcript.messages[2];
    expect(reply?.role === "assistant" && reply.parts[0]).toEqual({
      type: "reasoning",
      text: "t".repeat(200),
    });
  });

  it("case 44: sends a thought back no longer than it may be, and the call as it was, in every later request [P4.2]", async () => {
    const action = { tool: "add", args: { a: 1, b: 2 } };
    const long = `${"t".repeat(199)}\u{1f600}${"t".repeat(5000)}`;
    const reply = (thought: string): string => JSON.stringify({ thought, action });
    const fenced = `\`\`\`json\n${reply(long)}\n\`\`\``; // refused, and sent back too
    const model = scripted([reply(long), fenced, reply("short"), '{"final":{"content":"3"}}']);
    const { transcript } = await agent({ name: "a", model, driver: "json", tools: [add] }).run("go");
    const sent = (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
      message.role === "assistant"
        ? message.parts.map((part) => (part.type === "text" ? part.text : ""))
        : [],
    );
    const cut = reply("t".repeat(199)); // no half of a character is left
    expect(sent).toEqual([cut, cut, reply("short")]);
    for (const { messages } of model.requests) expect(JSON.stringify(messages).length).toBeLessThan(5000);
    expect(transcript.messages[2]).toMatchObject({ raw: reply(long) }); // the record has what the model wrote
  });

  it("shows the schemas of tools as long as they fit into a bounded part of the prompt, and types beyond [P6.2, P6.3]", async () => {
    const wide = (fields: number) =>
      fakeTool("wide", "x", {
        inputSchema: z.object(
          Object.fromEntries(Array.from({ length: fields }, (_, n) => [`field_${n}`, z.string().max(n + 1)])),
        ),
      });
    const systemWith = async (
      driver: "json" | "inline" | ReturnType<typeof jsonDriver>,
      fields: number,
    ): Promise<string> => {
      const model = scripted(['{"final":{"content":"x"}}']);
      await agent({ name: "a", model, driver, tools: [add, wide(fields)] }).run("go");
      const system = model.requests[0]?.messages[0];
      return system?.role === "system" ? system.text : "";
    };
    const schema = (fields: number): string => JSON.stringify(wide(fields).input.jsonSchema);
    for (const driver of ["json", "inline"] as const) {
      expect(await systemWith(driver, 20)).toContain(schema(20));
      const large = await systemWith(driver, 100);
      expect(large).not.toContain("additionalProperties");
      expect(large).toContain("field_99: string");
      expect(large).toContain("{ a: number (first number), b: number (second number) }");
    }
    expect(await systemWith(jsonDriver({ show: "schemas" }), 100)).toContain(schema(100));
    expect(await systemWith(jsonDriver({ show: "types" }), 2)).toContain("field_1: string");
    expect(await systemWith(jsonDriver({ show: "types" }), 2)).not.toContain("additionalProperties");
  });

  it("case 46: gives the value of `final.content` as it is where the program chose the protocol, and text otherwise [P7.2]", async () => {
    const values = [{ status: "ok" }, [1, 2], 7, true, null, "text"];
    for (const content of values) {
      const text = JSON.stringify({ final: { content } });
      for (const driver of ["json", jsonDriver({ maxRetries: 1 })] as const)
        expect(await agent({ name: "a", model: scripted([text]), driver })("go")).toEqual(content);
      const model = scripted([text], { features: { tools: false } });
      const auto = agent({ name: "a", model, tools: [add] });
      expect(await auto("go")).toBe(typeof content === "string" ? content : JSON.stringify(content));
    }
  });

  it("holds models that can be constrained to the calls that are allowed", async () => {
    const model = scripted(['{"final":{"content":"ok"}}'], { features: { tools: false, format: "schema" } });
    await agent({ name: "a", model, tools: [add] }).run("go");
    const format = model.requests[0]?.format;
    expect(format?.type === "schema" && JSON.stringify(format.schema)).toContain('"tool":{"const":"add"}');
    const grammatical = scripted(['{"final":{"content":"ok"}}'], {
      features: { tools: false, format: "grammar" },
    });
    await agent({ name: "a", model: grammatical, tools: [add] }).run("go");
    const grammar = grammatical.requests[0]?.format;
    expect(grammar?.type === "grammar" && grammar.grammar).toContain('\\"add\\"');
  });

  it("gives results in the role that the author chose [P2.2]", async () => {
    const model = scripted(['{"action":{"tool":"add","args":{"a":1,"b":2}}}', '{"final":{"content":"3"}}']);
    await agent({ name: "a", model, driver: jsonDriver({ resultRole: "tool" }), tools: [add] }).run("go");
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      text: '{"tool":"add","result":3}',
    });
  });
});

describe("fallback to the JSON protocol", () => {
  /** A provider that refuses tools, as Ollama does for models without them. */
  function withoutTools(answers: readonly string[]): {
    model: Model;
    requests: ReturnType<typeof scripted>["requests"];
  } {
    const inner = scripted(answers);
    const model: Model = {
      id: "plain/model",
      features: {},
      stream(request, options) {
        if (request.tools.length === 0) return inner.stream(request, options);
        throw new WritError("model-without-tools", { model: "model", provider: "plain", known: "none" });
      },
    };
    return { model, requests: inner.requests };
  }

  it("case 54: one refusal, one retry with one merged system message; later runs do not ask again; text stays text [L5]", async () => {
    const { model, requests } = withoutTools([
      '{"action":{"tool":"add","args":{"a":1,"b":2}}}',
      '{"final":{"content":"It is 3."}}',
    ]);
    const tried: string[] = [];
    const counted: Model = {
      ...model,
      stream: (request, options) => {
        tried.push(request.tools.length > 0 ? "native" : "json");
        return model.stream(request, options);
      },
    };
    const a = agent({ name: "a", instructions: "Be brief.", model: counted, tools: [add] });
    expect(await a("1 + 2")).toBe("It is 3.");
    expect(tried).toEqual(["native", "json", "json"]);
    expect(requests[0]?.messages.filter((message) => message.role === "system")).toHaveLength(1);
    expect(await a("again")).toBe("It is 3.");
    expect(tried.slice(3)).toEqual(["json"]);
  });

  it("case 54: other errors, and a second failure, are not hidden; without tools nothing is retried [L5]", async () => {
    const failing = (
      code: "model-without-tools" | "provider-failed",
    ): { model: Model; asked: () => number } => {
      let asked = 0;
      const model: Model = {
        id: "m",
        features: {},
        stream() {
          asked += 1;
          throw code === "provider-failed"
            ? new WritError(code, { provider: "p", model: "m", reason: "busy" })
            : new WritError(code, { provider: "p", model: "m", known: "none" });
        },
      };
      return { model, asked: () => asked };
    };
    const busy = failing("provider-failed");
    await expect(
      agent({ name: "a", model: busy.model, tools: [add], retry: false })("go"),
    ).rejects.toMatchObject({
      code: "provider-failed",
    });
    expect(busy.asked()).toBe(1);
    const never = failing("model-without-tools");
    await expect(agent({ name: "a", model: never.model, tools: [add] })("go")).rejects.toMatchObject({
      code: "model-without-tools",
    });
    expect(never.asked()).toBe(2);
    const bare = failing("model-without-tools");
    await expect(agent({ name: "a", model: bare.model })("go")).rejects.toMatchObject({
      code: "model-without-tools",
    });
    expect(bare.asked()).toBe(1);
  });

  it("replays with the driver that was chosen in the first run", async () => {
    const { model } = withoutTools([
      '{"action":{"tool":"add","args":{"a":1,"b":2}}}',
      '{"final":{"content":"It is 3."}}',
    ]);
    const journal = memoryJournal();
    const a = agent({ name: "a", model, tools: [add] });
    const first = await a.run("1 + 2", { journal });
    const offline = a.with({
      model: {
        ...model,
        stream: () => {
          throw new Error("asked again");
        },
      },
    });
    expect(
      await offline.run("1 + 2", { journal: memoryJournal(journal.records), runId: first.runId }),
    ).toEqual(first);
  });
});

describe("without a loop", () => {
  it("case 47: the caller carries out the calls and sends the history back [H1.1, H3.1]", async () => {
    const model = scripted([
      {
        text: "Let me look.",
        calls: [{ id: "call_123", name: "get_weather", arguments: { location: "London" } }],
        usage: { inputTokens: 9, outputTokens: 4 },
      },
      "It is 18°C.",
    ]);
    const user = userMessage("What's the weather like in London?");
    const weather = {
      name: "get_weather",
      description: "Get current weather for a location",
      inputSchema: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
    };
    const settings = { temperature: 0.2, maxOutputTokens: 100 };
    const reply = await chat({ model, messages: [user], tools: [weather], settings });
    expect(model.requests[0]).toMatchObject({ tools: [weather], toolChoice: "auto", settings });
    expect(reply).toMatchObject({
      text: "Let me look.",
      calls: [{ id: "call_123", arguments: { location: "London" } }],
      finishReason: "tool-calls",
      usage: { inputTokens: 9, outputTokens: 4 },
    });
    const result = {
      role: "tool" as const,
      callId: "call_123",
      name: "get_weather",
      status: "ok" as const,
      text: "London: 18°C",
    };
    const final = await chat({ model, messages: [user, reply.message, result], tools: [weather] });
    expect(final).toMatchObject({ text: "It is 18°C.", calls: [] });
    expect(model.requests[1]?.messages).toEqual([user, reply.message, result]);
  });

  it("case 48: text and calls of one reply stay together and in order (every adapter has this test of its own) [H4.1]", async () => {
    const model = scripted([
      { text: "First I add.", calls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
      "3",
    ]);
    await agent({ name: "a", model, tools: [add] }).run("go");
    expect(model.requests[1]?.messages[1]).toMatchObject({
      parts: [
        { type: "text", text: "First I add." },
        { type: "tool-call", name: "add" },
      ],
    });
  });

  it("case 50: nested collections of tools route by name; an unknown name is refused [H14]", async () => {
    const one = fakeTool("one", "one");
    const two = fakeTool("two", "two");
    const three = fakeTool("three", "three");
    const model = scripted([{ calls: ["three", "two", "four"].map((name) => ({ name })) }, "done"]);
    await agent({ name: "a", model, tools: [one, [two, [three]]], markResults: false }).run("go");
    expect(model.requests[1]?.messages.slice(2)).toMatchObject([
      { text: "three" },
      { text: "two" },
      { status: "denied" },
    ]);
    expect(one.calls).toHaveLength(0);
  });

  it("case 53: blank, repeated and hostile ids become unique ones that a provider takes [H20, H9.3]", async () => {
    const ids = ["", "same", "same", "x y\n", "a".repeat(100), "__proto__"];
    const calls = ids.map((id) => ({ id, name: "add", arguments: { a: 1, b: 1 } }));
    const model = scripted([{ calls }, { calls }, "done"]);
    await agent({ name: "a", model, tools: [add] }).run("go");
    const given =
      model.requests[2]?.messages.flatMap((message) => (message.role === "tool" ? [message.callId] : [])) ??
      [];
    expect(new Set(given).size).toBe(12);
    expect(given.every((id) => /^[a-zA-Z0-9_-]{1,64}$/.test(id))).toBe(true);
    expect(given[1]).toBe("same");
  });

  it("case 36: the scripted model: replies, calls, errors, repeating the last step, a child with a script of its own [C20]", async () => {
    expect(await agent({ name: "a", model: scripted([]) })("go")).toBe("ok");
    const repeating = agent({ name: "a", model: scripted(["first", "last"]) });
    expect([await repeating("1"), await repeating("2"), await repeating("3")]).toEqual([
      "first",
      "last",
      "last",
    ]);
    const strict = scripted(["only"], { whenDone: "throw" });
    const once = agent({ name: "a", model: strict });
    expect(strict.remaining()).toBe(1);
    expect(() => strict.assertComplete()).toThrow("1 of 1 steps");
    await once("1");
    await expect(once("2")).rejects.toMatchObject({
      code: "provider-failed",
      cause: { message: expect.stringContaining("asked once more") },
    });
    await expect(agent({ name: "a", model: scripted([new Error("boom")]) })("go")).rejects.toMatchObject({
      cause: { message: "boom" },
    });
    const child = agent({ name: "child", model: scripted(["child answer"]) });
    const ask = tool({
      name: "ask",
      description: "",
      inputSchema: z.object({ q: z.string() }),
      execute: ({ q }) => child(q),
    });
    const parent = agent({
      name: "parent",
      model: scripted([
        { calls: [{ name: "ask", arguments: { q: "?" } }] },
        (request) => `heard: ${JSON.stringify(request.messages.at(-1))}`,
      ]),
      tools: [ask],
    });
    expect(await parent("go")).toContain("child answer");
  });

  it("case 36: a call of a script runs in an agent and not without one; a step says what it used [C20]", async () => {
    const step = {
      text: "I add.",
      calls: [{ name: "add", arguments: { a: 1, b: 2 } }],
      usage: { inputTokens: 7, outputTokens: 3 },
    };
    const spy = fakeTool("add", 3);
    const model = scripted([step, "3"]);
    const result = await agent({ name: "a", model, tools: [spy] }).run("1 + 2");
    expect(result).toMatchObject({ text: "3", turns: 2 });
    expect(result.usage.inputTokens).toBeGreaterThanOrEqual(7);
    expect(spy.calls).toHaveLength(1);
    const reply = await chat({ model: scripted([step]), messages: [userMessage("1 + 2")], tools: [spy] });
    expect(reply).toMatchObject({ text: "I add.", calls: [{ name: "add" }], usage: step.usage });
    expect(spy.calls).toHaveLength(1);
    const asks = scripted([
      (request) => String(request.messages.length),
      { text: "wrong", finishReason: "error" },
    ]);
    expect((await chat({ model: asks, messages: [userMessage("x")] })).text).toBe("1");
    await expect(chat({ model: asks, messages: [userMessage("x")] })).rejects.toMatchObject({
      code: "provider-failed",
    });
  });
});
