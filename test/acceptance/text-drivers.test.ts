import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  asChat,
  commandDriver,
  inWords,
  pythonicDriver,
  selectDriver,
  textDriver,
  type TextProtocol,
} from "../../src/drivers.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import { textOf } from "../../src/message/message.ts";
import { addReply, dropTurns, type ReadyTranscript } from "../../src/message/transcript.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { growth } from "../cpu-time.ts";
import { readGbnf } from "../gbnf.ts";
import { replyOf, turnOf } from "../unit/driver/turn.ts";
import { json, play, search } from "./play-driver.ts";

describe("command", () => {
  it("case 45: calls dotted names with nested JSON, on one line or on several, one command or several [P5.1]", async () => {
    const { calls, told, result } = await play(commandDriver(), [
      '@tool kom.memory.v1.search_memory {"namespace":"project:metal", "query":{"text":"embedding model"}}',
      '@tool note {\n  "text": "two\\nlines, and } in \\"quotes\\"",\n  "tags": ["@tool", {"a": {"b": 1}}]\n}\n@tool note',
      "fine",
    ]);
    expect(calls).toEqual([
      [{ namespace: "project:metal", query: { text: "embedding model" } }],
      [{ text: 'two\nlines, and } in "quotes"', tags: ["@tool", { a: { b: 1 } }] }, {}],
    ]);
    expect(told[1]).toBe('Result of kom.memory.v1.search_memory: {"matches":[]}');
    expect(told[2]).toBe("Result of note: kept\nResult of note: kept");
    expect(result.text).toBe("fine");
  });

  const line = '@tool note {"text":"x"}';
  it("case 45: a command with words around it is sent back, or run with the words kept, as its author says [P5.2]", async () => {
    for (const reply of [`I note it.\n${line}`, `${line}\nDone.`, `First:\n${line}\nthen:\n${line}`]) {
      const refused = await play(commandDriver(), [reply, "fine"]);
      expect(refused.told[1]).toContain("there is text beside the commands");
      expect(refused.calls.flat()).toEqual([]);
      const kept = await play(commandDriver({ prose: "keep" }), [reply, "fine"]);
      expect(kept.calls.flat()).toHaveLength(reply.split(line).length - 1);
      const message = kept.result.transcript.messages.find(({ role }) => role === "assistant");
      expect(message?.role === "assistant" && textOf(message)).toMatch(/I note it|Done|First/);
    }
  });

  it("case 45: a command in a code block, or in the middle of a line, never runs [P5.2]", async () => {
    for (const prose of ["refuse", "keep"] as const) {
      const fenced = await play(commandDriver({ prose }), [`So:\n\`\`\`\n${line}\n\`\`\``, "fine"]);
      expect(fenced.calls.flat()).toEqual([]);
      expect(fenced.told[1]).toContain("stands in a code block");
      const inside = await play(commandDriver({ prose }), [`You write ${line} for that.`]);
      expect(inside.calls.flat()).toEqual([]);
      expect(inside.result.text).toBe(`You write ${line} for that.`);
    }
  });

  const ticks = "`".repeat(3);
  it.each([
    ["a longer fence", `\`${ticks}\n${ticks}\n${line}\n${ticks}\n\`${ticks}`],
    ["a fence of another sign", `~~~\n${ticks}\n${line}\n${ticks}\n~~~`],
    ["a fence with words behind it, which ends nothing", `${ticks}\nx\n${ticks} y\n${line}\n${ticks}`],
    ["a fence that is not closed", `${ticks}md\n${line}`],
    ["an indented block", `For example:\n\n    ${line}\nSo.`],
    ["a block indented by a tab", `For example:\n\n\t${line}\nSo.`],
  ])("case 45: a command in %s never runs [P5.2]", async (_where, reply) => {
    for (const prose of ["refuse", "keep"] as const) {
      const { calls, told } = await play(commandDriver({ prose }), [`Like this:\n${reply}`, "fine"]);
      expect(calls.flat()).toEqual([]);
      expect(told[1]).toContain("stands in a code block");
    }
    const after = `${ticks}ts\nx\n${ticks}\`\n${line}`;
    expect((await play(commandDriver({ prose: "keep" }), [after, "fine"])).calls.flat()).toHaveLength(1);
  });

  it.each([
    ['@tool note {"a": 1, "a": 2}', 'it has the key "a" twice'],
    ["@tool", "a command has no name"],
    ["@tool {}", "a command has no name"],
    ["@tool note text", "the arguments of @tool note are no JSON object"],
    ["@tool note {'text': 1}", "the arguments of @tool note are no JSON object"],
    ['@tool note {"text": 1', "the arguments of @tool note are not closed"],
    ['@tool note {"text": 1} please', "there is text behind the arguments of @tool note"],
  ])("case 45: says what is wrong with %j, and runs nothing [P5.2]", async (reply, fault) => {
    const { told, calls } = await play(commandDriver(), [reply, "fine"]);
    expect(told[1]).toContain(fault);
    expect(calls.flat()).toEqual([]);
  });

  it("reads a reply of many fences and commands in the time of its length", () => {
    const turn = turnOf({ tools: [search] });
    const driver = commandDriver({ prose: "keep" });
    const read = (lines: number): unknown =>
      driver.read(replyOf('```\n@tool x {"a":1}\n```\n{{{\n'.repeat(lines)), turn);
    expect(growth(1_250, read)).toBeLessThan(5);
  });
});

describe("pythonic", () => {
  const typed = fakeTool("weather.get", "sunny", {
    inputSchema: z.object({
      city: z.string(),
      days: z.number().int().optional(),
      exact: z.boolean().optional(),
    }),
  });

  it("reads the literals of Python, names with dots, and several calls", async () => {
    const { calls, result, told } = await play(
      pythonicDriver(),
      [
        `[note(text='it\\'s', flag=True, none=None, list=[1, 2.5, 'a'], dict={'k': {"x": False}}), weather.get(city="Lima", days=3,)]`,
        "[weather.get('Lima', 2, exact=False)]",
        "fine",
      ],
      { tools: [typed, fakeTool("note", "kept")] },
    );
    expect(calls).toEqual([
      [
        { city: "Lima", days: 3 },
        { city: "Lima", days: 2, exact: false },
      ],
      [{ text: "it's", flag: true, none: null, list: [1, 2.5, "a"], dict: { k: { x: false } } }],
    ]);
    expect(told[1]).toBe("note returned: kept\nweather.get returned: sunny");
    expect(result.text).toBe("fine");
  });

  it.each([
    ["[weather.get(city='Lima'] is it", "cannot be read"],
    ["[weather.get(city='Lima'), 7]", "call 2 of the list cannot be read"],
    ["[weather.get(city='Lima')", "is not closed behind call 1"],
    ["[weather.get(city='Lima')] There.", "there is text behind the list of calls"],
    ["[weather.get('Lima', 1, True, 2)]", "more arguments than weather.get takes"],
    ["[weather.get('Lima', city='Lima')]", 'gives "city" twice'],
    ["[weather.get(city='Lima', city='Rome')]", 'it has the key "city" twice in one object'],
    ["[]", "the list has no call in it"],
    ["```python\n[weather.get(city='Lima')]\n```", "the calls stand in a code block"],
    ["```\nweather.get(city='Lima')\n```", "the calls stand in a code block"],
  ])("sends %j back, and runs nothing", async (reply, fault) => {
    const { told, calls } = await play(pythonicDriver(), [reply, "fine"], { tools: [typed] });
    expect(told[1]).toContain(fault);
    expect(calls.flat()).toEqual([]);
  });

  it("takes any other text for the answer, and a call without its brackets for a call", async () => {
    for (const reply of [
      "[1, 2]",
      "See weather.get(city='Lima').",
      "print(1)",
      "[a](b)",
      "[Smith (2020)] says so.",
      "[Foo (bar)](http://x.example) is good.",
      "```python\nprint(1)\n```",
      "```python\n[weather.get(city='Lima')]\n```\nis how to ask.",
    ]) {
      const { result, calls } = await play(pythonicDriver(), [reply], { tools: [typed] });
      expect(result.text).toBe(reply);
      expect(calls.flat()).toEqual([]);
    }
    const { calls, repairs } = await play(pythonicDriver(), ["weather.get(city='Lima')", "fine"], {
      tools: [typed],
    });
    expect(calls).toEqual([[{ city: "Lima" }]]);
    expect(repairs).toEqual(["the call stood without brackets"]);
  });
});

describe("pythonic, with names that Python does not take", () => {
  const odd = fakeTool("query", "rows", {
    inputSchema: {
      type: "object",
      properties: {
        table: { type: "string" },
        "user name": { type: "string" },
        $filter: { type: "integer" },
        limit: { type: "integer" },
      },
      required: ["table", "user name"],
      additionalProperties: false,
    },
  });

  it("holds models to what it reads: such arguments stand in an object", async () => {
    const driver = pythonicDriver();
    const turn = turnOf({ tools: [odd], features: { tools: false, format: "grammar" } });
    const { format } = driver.request(turn);
    const grammar = readGbnf(format?.type === "grammar" ? format.grammar : "");
    const written = `[query(table="t", **{"user name": "x", "$filter": 3}, limit=2)]`;
    for (const text of [written, `[query(table="t", **{"user name": "x"})]`])
      expect(grammar.matches(text), text).toBe(true);
    for (const text of [`[query(table="t", $filter=3)]`, `[query(table="t")]`])
      expect(grammar.matches(text), text).toBe(false);
    const { calls } = await play(driver, [written, "fine"], { tools: [odd] });
    expect(calls).toEqual([[{ table: "t", "user name": "x", $filter: 3, limit: 2 }]]);
  });
});

describe("select", () => {
  const sum = { a: 19, b: 23 };
  const inputSchema = z.object({ a: z.number().describe("first number"), b: z.number() });
  const adding = fakeTool("add", 42, { description: "Add two numbers", inputSchema });

  it("asks which tool, then for its arguments alone, and shows both in what follows", async () => {
    const { model, told, result } = await play(
      selectDriver(),
      [json({ tool: "add" }), json(sum), json({ answer: "It is 42." })],
      { tools: [adding, search] },
    );
    expect(result).toMatchObject({ text: "It is 42.", turns: 3 });
    expect(result.transcript.messages.at(-1)).toMatchObject({ parts: [{ type: "text", text: "It is 42." }] });
    const [system] = model.requests[0]?.messages ?? [];
    expect(system?.role === "system" && system.text).toContain("- add: Add two numbers");
    expect(system?.role === "system" && system.text).not.toContain("first number");
    expect(told[1]).toMatch(/^The arguments of add: \{ a: number/);
    expect(told[2]).toBe(json({ tool: "add", result: 42 }));
    expect(model.requests[2]?.messages.slice(2).map((message) => message.role)).toEqual([
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
  });

  it("holds each half to what it may be", async () => {
    for (const format of ["schema", "grammar"] as const) {
      const { model } = await play(
        selectDriver(),
        [json({ tool: "add" }), json(sum), json({ answer: "42" })],
        {
          tools: [adding, search],
          features: { tools: false, format },
        },
      );
      const [which, what] = model.requests.map((request) => json(request.format));
      expect(which).toContain("search_memory");
      expect(which).not.toContain("first number");
      expect(what).toMatch(/\\"a\\|"a"/);
      expect(what).not.toContain("search_memory");
      if (format === "schema")
        expect(model.requests[1]?.format).toEqual({ type: "schema", schema: adding.input.jsonSchema });
    }
  });

  it.each(["add", "`add`.", "Tool: add", '```json\n{"tool": "add"}\n```', '{"tool":"add"}'])(
    "takes %j for a choice",
    async (reply) => {
      const { result, calls } = await play(selectDriver(), [reply, json({ n: 1 }), json({ answer: "x" })], {
        tools: [fakeTool("add", 1)],
      });
      expect(calls).toEqual([[{ n: 1 }]]);
      expect(result.turns).toBe(3);
    },
  );

  it("takes a whole call at once, and a tool without arguments by its name", async () => {
    const now = fakeTool("now", "noon", { inputSchema: z.object({}) });
    const { calls, result } = await play(
      selectDriver(),
      [json({ tool: "note", arguments: { n: 1 } }), json({ tool: "now" }), json({ answer: "x" })],
      { tools: [fakeTool("note", 1), now] },
    );
    expect(calls).toEqual([[{ n: 1 }], [{}]]);
    expect(result.turns).toBe(3);
  });

  it("lets the model choose again when its arguments cannot be read, and ends a model that never fills any in", async () => {
    const again = await play(selectDriver(), [json({ tool: "note" }), "What?", json({ answer: "None." })]);
    expect(again.told[2]).toMatch(/not accepted.*Choose again: \{"tool": "note"\}, another tool, or/);
    expect(again.result.text).toBe("None.");
    const stuck = await play(
      selectDriver({ maxRetries: 2 }),
      Array.from({ length: 14 }, (_, index) => (index % 2 === 0 ? json({ tool: "note" }) : "")),
    );
    expect(stuck.result).toMatchObject({ turns: 6, outcome: { type: "failed", code: "protocol-violated" } });
  });

  it("shows the model a refused reply as it wrote it", async () => {
    const { model } = await play(selectDriver(), [
      '{"tool": "note"} now',
      json({ tool: "note" }),
      "not so",
      json({ answer: "None." }),
    ]);
    const shown = (turn: number): readonly string[] =>
      (model.requests[turn]?.messages ?? []).map((message) =>
        message.role === "assistant" || message.role === "user" ? textOf(message) : "",
      );
    expect(shown(1).at(-2)).toBe('{"tool": "note"} now');
    expect(shown(3).slice(-4)).toEqual([
      json({ tool: "note" }),
      expect.stringContaining("The arguments of note"),
      "not so",
      expect.stringContaining("not accepted"),
    ]);
  });

  it("takes no name of a tool that was cut off for an answer", async () => {
    const { result, told } = await play(selectDriver(), [
      { text: "note", finishReason: "length" },
      json({ answer: "None." }),
    ]);
    expect(told[1]).toContain("cut off");
    expect(result.text).toBe("None.");
  });

  it("begins with the choice again when its half of a turn was compacted away", () => {
    const turn = turnOf({ tools: [adding, search] });
    const driver = selectDriver();
    const { message } = driver.read(replyOf(json({ tool: "add" })), turn);
    const pending = { ...turn, transcript: addReply(turn.transcript, message) as ReadyTranscript };
    expect(driver.read(replyOf(json(sum)), pending).type).toBe("calls");
    const compacted = { ...turn, transcript: dropTurns(pending.transcript, 1) };
    expect(driver.request(compacted).messages).toEqual(driver.request(turn).messages);
    expect(driver.read(replyOf(json({ tool: "add" })), compacted).type).toBe("pending");
  });

  it("answers on a last turn that must, also between the two halves", async () => {
    const { result, model } = await play(
      selectDriver(),
      [json({ tool: "note" }), json({ answer: "None." })],
      {
        changes: { budget: { turns: 2 }, lastTurn: "answer" },
        features: { tools: false, format: "schema" },
      },
    );
    expect(result.text).toBe("None.");
    expect(json(model.requests[1]?.format)).not.toContain("tool");
  });
});

describe("an answer in the next run of a session", () => {
  it("is told as the protocol writes it, whatever way the model wrote it", async () => {
    const store = inMemorySessions();
    const model = scripted(['{ "answer":\n"It is 8." }'], { features: { tools: false } });
    const clerk = agent({ name: "clerk", model, driver: selectDriver(), tools: [search] });
    const { transcript } = await clerk.run("3 + 5?", { session: session(store, "s") });
    const kept = { role: "assistant", parts: [{ type: "text", text: "It is 8." }] };
    expect(transcript.messages.at(-1)).toEqual(kept); // not the spelling of the model, which other drivers would send back
    await clerk.run("And again?", { session: session(store, "s") });
    const told = model.requests[1]?.messages.find(({ role }) => role === "assistant");
    expect(told?.role === "assistant" && textOf(told)).toBe(json({ answer: "It is 8." }));
  });
});

describe("a driver of an author", () => {
  const words = { calls: () => "", result: () => "" };
  const shout: TextProtocol = {
    name: "shout",
    conversation: asChat(() => "Shout.", inWords(words)),
    read: (content) => ({ type: "final", content }),
    feedback: (reason) => reason,
  };
  const broken = (): never => {
    throw new Error("broken");
  };
  const wrong: readonly [Readonly<Record<string, unknown>>, string][] = [
    [{ read: JSON.parse }, "JSON"],
    [{ read: () => undefined }, "`read` returned cannot be used: it must be an object, got nothing"],
    [
      { read: () => ({ type: "cals" }) },
      '`type` must be one of calls, final, pending, violation, got "cals"',
    ],
    [{ read: () => ({ type: "final" }) }, "`content` must be JSON, got nothing"],
    [{ read: () => ({ type: "calls" }) }, "`calls` must be a list, got nothing"],
    [{ read: () => ({ type: "calls", calls: [{}] }) }, "`calls[0].name` must be a string, got nothing"],
    [{ conversation: broken }, "broken"],
    [{ question: broken }, "broken"],
    [{ conversation: () => undefined }, "`conversation` returned cannot be used: it must be an object"],
    [{ feedback: broken, read: () => ({ type: "violation", reason: "no" }) }, "broken"],
  ];

  it.each(wrong)(
    "fails the run by its name where %o throws or returns nothing of use",
    async (field, reason) => {
      for (const plainAnswers of [{}, { plainAnswers: true } as const]) {
        const driver = textDriver({ ...shout, ...plainAnswers, ...field });
        const { outcome, transcript } = await agent({ name: "a", model: scripted(["no JSON"]), driver }).run(
          "x",
        );
        expect(outcome).toMatchObject({ type: "failed", code: "driver-failed" });
        expect(outcome).toMatchObject({ message: expect.stringContaining('The driver "shout" failed: ') });
        expect(outcome).toMatchObject({ message: expect.stringContaining(reason) });
        expect(transcript.messages.map(({ role }) => role)).toContain("user");
      }
    },
  );

  it.each(["conversation", "read", "feedback"])("is refused without its `%s`", (field) => {
    const code = { code: "definition-invalid", message: expect.stringContaining(`\`protocol.${field}\``) };
    expect(() => textDriver({ ...shout, [field]: undefined })).toThrow(expect.objectContaining(code));
  });
});
