import { describe, expect, it } from "vitest";
import { z } from "zod";
import { reactDriver, type ReactDriverOptions } from "../../src/driver/react.ts";
import { type AgentEvent, agent, memoryJournal, tool } from "../../src/index.ts";
import type { Message } from "../../src/message/message.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { add } from "./calculator.ts";

const call = (name: string, args: unknown, thought = "I need this."): string =>
  JSON.stringify({ thought, type: "call_tool", tool: name, args });
const final = (answer: unknown, thought = "I know enough."): string =>
  JSON.stringify({ thought, type: "final_answer", answer });

const lines = (messages: readonly Message[] | undefined): readonly string[] =>
  (messages ?? []).map((message) =>
    message.role === "system" || message.role === "tool"
      ? message.text
      : message.parts.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join(""),
  );

/** Runs a script with the ReAct driver. */
async function play(script: readonly string[], options: ReactDriverOptions = {}, tools = [add]) {
  const model = scripted(script, { features: { tools: false } });
  const events: AgentEvent[] = [];
  const thinker = agent({
    name: "thinker",
    instructions: "Answer briefly.",
    model,
    driver: reactDriver(options),
    tools,
    budget: { turns: 12 },
  });
  const stream = thinker.stream("What is 3 + 5?");
  let next = await stream.next();
  for (; next.done !== true; next = await stream.next()) events.push(next.value);
  return { model, events, result: next.value, sent: (turn: number) => lines(model.requests[turn]?.messages) };
}

describe("case 35: ReAct", () => {
  it("case 35: a valid call runs, its result is observed, and the answer ends the run [C19, C1.2, C5.2, C6.1]", async () => {
    const { model, result, sent } = await play([
      call("add", { a: 3, b: 5 }, "I add."),
      final("The result is 8."),
    ]);
    expect(result).toMatchObject({ text: "The result is 8.", turns: 2, outcome: { type: "answered" } });
    expect(model.requests.map(({ tools }) => tools)).toEqual([[], []]);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
    expect(sent(1).slice(1)).toEqual([
      "What is 3 + 5?",
      'Thought: I add.\nAction: add\nAction Input: {"a":3,"b":5}',
      "Observation: 8",
    ]);
    expect(sent(1).slice(0, 2)).toEqual(sent(0));
  });

  it("case 35: the prompt has the rules, the catalogue of tools and their schemas [C15, C5.1]", async () => {
    const { sent } = await play([final("8")]);
    const [system = ""] = sent(0);
    expect(system.startsWith("Answer briefly.")).toBe(true);
    for (const rule of [
      "strictly one JSON object",
      '"type": "call_tool"',
      '"type": "final_answer"',
      "args is a JSON object whose keys are the parameter names",
      "Never calculate yourself",
      "Keep the thought short",
      "Use only the tools below",
    ])
      expect(system).toContain(rule);
    expect(system).toContain(
      'TOOL CATALOG (names, descriptions):\n[{"name":"add","description":"Add two numbers: a + b"}]',
    );
    expect(system).toContain(`TOOL SCHEMAS (name, parameters):\n[{"name":"add","parameters":`);
    expect(system).toContain(JSON.stringify(add.input.jsonSchema));
  });

  it.each([
    [
      "an invalid type",
      JSON.stringify({ type: "think" }),
      "Decision type must be call_tool or final_answer.",
    ],
    ["no type", "{}", "Decision type must be call_tool or final_answer."],
    [
      "no tool",
      JSON.stringify({ type: "call_tool", args: {} }),
      "Tool name is required when type=call_tool.",
    ],
    ["an unknown tool", call("rm", { path: "/" }), "Requested tool is not available. Available: add."],
    [
      "an inherited name as tool",
      call("constructor", {}),
      "Requested tool is not available. Available: add.",
    ],
    [
      "args as a list",
      call("add", [3, 5]),
      "Arguments must be a JSON object with parameter names as keys, not a sequential array.",
    ],
    [
      "missing args",
      JSON.stringify({ type: "call_tool", tool: "add" }),
      "Arguments are required when type=call_tool.",
    ],
    ["empty args", call("add", {}), "Arguments are required when type=call_tool."],
    ["an empty list of args", call("add", []), "Arguments are required when type=call_tool."],
    ["an empty answer", final(" "), "Answer is required when type=final_answer."],
    ["no answer", JSON.stringify({ type: "final_answer" }), "Answer is required when type=final_answer."],
  ])("case 35: %s is observed as an error, and the run goes on [C16, C18]", async (_what, wrong, problem) => {
    const spy = fakeTool("rm", "gone");
    const { result, events, sent } = await play([wrong, final("8")]);
    expect(result).toMatchObject({ text: "8", outcome: { type: "answered" } });
    expect(sent(1).slice(-2)).toEqual([wrong, `Observation: ERROR - ${problem}`]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "retry-start", reason: `decision_validation: ${problem}` }),
    );
    expect(spy.calls).toHaveLength(0);
  });

  it("case 35: a tool that needs no arguments is called without [C16]", async () => {
    const now = tool({
      name: "now",
      description: "The time",
      inputSchema: z.object({}),
      execute: () => "noon",
    });
    const asked = tool({
      name: "asked",
      description: "Anything",
      inputSchema: { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      execute: () => "never",
    });
    const without = JSON.stringify({ type: "call_tool", tool: "now" });
    const { sent } = await play([without, call("asked", null), final("noon")], {}, [now, asked] as never);
    expect(sent(1).at(-1)).toBe('Observation: {"tool":"now","trusted":false,"value":"noon"}');
    expect(sent(2).at(-1)).toBe("Observation: ERROR - Arguments are required when type=call_tool.");
  });

  it("case 35: extraction fails after maxRetries more tries, and the run with it [C18, C5.4]", async () => {
    for (const [maxRetries, asked] of [
      [undefined, 3],
      [0, 1],
      [4, 5],
    ] as const) {
      const { model, result } = await play(
        ["I think it is 8."],
        maxRetries === undefined ? {} : { maxRetries },
      );
      expect(model.requests).toHaveLength(asked);
      expect(result).toMatchObject({
        outcome: { type: "failed", code: "protocol-violated" },
        error: {
          data: { driver: "react", count: asked, reason: expect.stringMatching(/^decision_extraction: /) },
        },
      });
    }
    const { result } = await play(["no", "no", call("add", { a: 1, b: 2 }), "no", "no", final("3")]);
    expect(result.text).toBe("3");
    expect(() => reactDriver({ maxRetries: -1 })).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });

  it("case 35: a decision alone in a fence counts, and an answer with words around it; a call with words or one that was cut off does not [C5.4]", async () => {
    const fenced = `\`\`\`json\n${call("add", { a: 1, b: 2 })}\n\`\`\``;
    expect((await play([fenced, final("3")])).sent(1).at(-1)).toBe("Observation: 3");
    for (const quoted of [
      `Let me see.\n${fenced}`,
      `To add you would write:\n${fenced}\nShall I?`,
      `The page says ${call("add", { a: 1, b: 2 })} but I ignore that.`,
    ]) {
      const { sent, events, result } = await play([quoted, final("none")]);
      expect(events.some(({ type }) => type === "tool-start")).toBe(false);
      expect(sent(1).at(-1)).toMatch(
        /^Observation: ERROR - The reply must be one JSON object and nothing else/,
      );
      expect(result.text).toBe("none");
    }
    const unread = await play(["It is 3.", final("3")]);
    expect(unread.sent(1).at(-1)).toBe(
      "Observation: ERROR - The reply is not one JSON object: there is none in it.",
    );
    const told = await play([`I am done.\n${final("3")}`]);
    expect(told.result.text).toBe("3");
    const cited = await play([`As [1] says.\n${final("3")}`]);
    expect(cited.result).toMatchObject({ text: "3", turns: 1 });
    const model = scripted([{ text: final("cut").slice(0, -4), finishReason: "length" }, final("whole")], {
      features: { tools: false },
    });
    expect(await agent({ name: "a", model, driver: "react" })("go")).toBe("whole");
    expect(lines(model.requests[1]?.messages).at(-1)).toMatch(/^Observation: ERROR - .*cut off/);
  });

  it("case 35: finalViaInference makes one extra call, for the answer as plain text [C19, C5.5]", async () => {
    const { model, result, sent } = await play(
      [call("add", { a: 3, b: 5 }, "I add."), final("eight or so"), "The result is 8."],
      { finalViaInference: true },
    );
    expect(model.requests).toHaveLength(3);
    expect(result).toMatchObject({ text: "The result is 8.", turns: 3 });
    const last = sent(2);
    expect(last.slice(0, -2)).toEqual(sent(1));
    expect(last.slice(1)).toEqual([
      "What is 3 + 5?",
      'Thought: I add.\nAction: add\nAction Input: {"a":3,"b":5}',
      "Observation: 8",
      '{"type":"final_answer"}',
      "Return only the final answer as plain text.",
    ]);
    expect(model.requests[2]).toMatchObject({ tools: [], toolChoice: "none" });
    expect((await play([final("8")])).model.requests).toHaveLength(1);
  });

  it("case 35: a last turn that must answer is asked for the plain text at once [C5.5]", async () => {
    const model = scripted([call("add", { a: 1, b: 2 }), "It is 3."], { features: { tools: false } });
    const thinker = agent({
      name: "a",
      model,
      driver: reactDriver({ finalViaInference: true }),
      tools: [add],
      budget: { turns: 2 },
      lastTurn: "answer",
    });
    expect(await thinker("go")).toBe("It is 3.");
  });

  it("case 35: replays with the same number of calls [C5.2]", async () => {
    const journal = memoryJournal();
    const script = [final("about 8"), "It is 8."];
    const thinker = agent({
      name: "a",
      model: scripted(script),
      driver: reactDriver({ finalViaInference: true }),
    });
    const first = await thinker.run("go", { journal });
    const silent = thinker.with({ model: scripted([new Error("asked again")]) });
    const again = await silent.run("go", { journal: memoryJournal(journal.records), runId: first.runId });
    expect(JSON.stringify(again)).toBe(JSON.stringify(first));
    expect(first).toMatchObject({ text: "It is 8.", turns: 2 });
  });

  it("case 35: observations are JSON, or ERROR with what went wrong [C19]", async () => {
    const own = { description: "", inputSchema: z.object({}), trusted: true };
    const tools = [
      tool({ ...own, name: "text", execute: () => "sunny" }),
      tool({ ...own, name: "object", execute: () => ({ sky: "clear" }) }),
      tool({
        name: "broken",
        description: "",
        inputSchema: z.object({}),
        execute: () => {
          throw new Error("no sky");
        },
      }),
      add,
    ];
    const { sent } = await play(
      [
        call("text", {}),
        call("object", {}),
        call("broken", {}),
        call("add", { a: "x", b: 1 }),
        final("done"),
      ],
      {},
      tools as never,
    );
    expect(sent(1).at(-1)).toBe('Observation: "sunny"');
    expect(sent(2).at(-1)).toBe('Observation: {"sky":"clear"}');
    expect(sent(3).at(-1)).toMatch(/^Observation: ERROR - .*no sky/);
    expect(sent(4).at(-1)).toMatch(/^Observation: ERROR - Tool 'add' received invalid arguments: .*a/);
  });

  it("case 35: a stranger's result is observed with its mark, structured as it was [C5.3]", async () => {
    const sky = tool({
      name: "sky",
      description: "",
      inputSchema: z.object({}),
      execute: () => ({ sky: "clear" }),
    });
    const { sent } = await play([call("sky", {}), final("done")], {}, [sky] as never);
    expect(sent(1).at(-1)).toBe('Observation: {"tool":"sky","trusted":false,"value":{"sky":"clear"}}');
  });

  it("case 35: arguments are normalized: unknown keys and nulls go, defaults come, in nested ones too [C17]", async () => {
    const seen: unknown[] = [];
    const search = tool({
      name: "search",
      description: "Search",
      inputSchema: {
        type: "object",
        properties: {
          query: { type: "string" },
          limit: { type: "integer", default: 10 },
          page: {
            type: "object",
            properties: { size: { type: "integer", default: 5 }, after: { type: ["string", "null"] } },
          },
          filters: {
            type: "array",
            items: {
              type: "object",
              properties: { field: { type: "string" } },
              required: ["field"],
            },
          },
        },
        required: ["query"],
      },
      execute: (args) => seen.push(args),
    });
    const given = {
      query: "writ",
      limit: null,
      reason: "because",
      page: { after: null, extra: 1 },
      filters: [
        { field: "a", op: "=" },
        { field: "b", value: null },
      ],
    };
    const { events, sent } = await play([call("search", given), final("ok")], {}, [search] as never);
    expect(seen).toEqual([
      { query: "writ", limit: 10, page: { after: null, size: 5 }, filters: [{ field: "a" }, { field: "b" }] },
    ]);
    const told = events.flatMap((event) => (event.type === "message-end" ? (event.repairs ?? []) : []));
    expect(told).toEqual(
      ["reason", "page.extra", "filters.op"].map((key) => `left out "${key}", which search does not take`),
    );
    expect(sent(1).at(-2)).toContain(`Action Input: ${JSON.stringify(given)}`); // its own words
  });

  it("case 35: arguments that the schema forbids are refused, not left out: they may be meant", async () => {
    const remove = fakeTool("remove", "gone", { inputSchema: z.object({ path: z.string() }) });
    const { result, sent } = await play([call("remove", { path: "/x", dry_run: true }), final("none")], {}, [
      remove,
    ] as never);
    expect(remove.calls).toEqual([]);
    expect(sent(1).at(-1)).toBe(
      "Observation: ERROR - remove does not take dry_run. Its arguments: { path: string }",
    );
    expect(result.text).toBe("none");
  });
});

describe("ReAct with models that can be held to a form", () => {
  it("holds them to decisions with these tools, and the answer to its schema [G4, C5.6]", async () => {
    const output = z.object({ sum: z.number() });
    for (const format of ["schema", "grammar"] as const) {
      const model = scripted([final({ sum: 8 })], { features: { tools: false, format } });
      const thinker = agent({ name: "a", model, driver: "react", tools: [add], output });
      expect(await thinker("go")).toEqual({ sum: 8 });
      const sent = model.requests[0]?.format;
      const text = sent?.type === "schema" ? JSON.stringify(sent.schema) : (sent?.grammar ?? "");
      expect(sent?.type).toBe(format);
      expect(text).toContain("call_tool");
      expect(text).toContain("sum");
    }
  });
});
