import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { call, callTool, chat, execute, type ReplyMessage, userMessage } from "../../src/doors.ts";
import { agent, type Message, skill, type Tool, tool } from "../../src/index.ts";
import { textOf } from "../../src/message/message.ts";
import type { ModelRequest } from "../../src/models.ts";
import { scripted } from "../../src/testing.ts";
import { type DataTool, validateCall, validateResult } from "../../src/tools.ts";

/** The tool of the second seed page, with what it says of its results. */
const weather = {
  name: "get_weather",
  description: "Get current weather for a location",
  inputSchema: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
  outputSchema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
} as const satisfies DataTool;

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** An Ollama that keeps what it is sent and answers "ok". */
async function fakeOllama(): Promise<{ port: number; bodies: unknown[] }> {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(JSON.parse(body));
      response.end(
        `${JSON.stringify({ model: "m", message: { role: "assistant", content: "ok" }, done: true, done_reason: "stop" })}\n`,
      );
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, bodies };
}

describe("a tool as data", () => {
  it("has a name and a description; its input schema is {} unless it says more, and its output schema reaches no model [H2.1, H2.2]", async () => {
    const model = scripted(["ok"]);
    const now: DataTool = { name: "now", description: "The time" };
    await chat({ model, messages: "hi", tools: [weather, [now]] });
    const { outputSchema: _, ...told } = weather;
    expect(model.requests[0]?.tools).toEqual([
      told,
      { name: "now", description: "The time", inputSchema: { type: "object" } },
    ]);
    const { port, bodies } = await fakeOllama();
    const reply = await chat({
      model: ollama("m", { host: "127.0.0.1", port }),
      messages: "hi",
      tools: [now],
    });
    expect(reply.text).toBe("ok");
    expect(bodies).toEqual([
      expect.objectContaining({
        tools: [
          {
            type: "function",
            function: { name: "now", description: "The time", parameters: { type: "object" } },
          },
        ],
      }),
    ]);
  });

  it("that is wrong is found before the model is asked, and is never the provider's fault [H2.3]", async () => {
    const model = scripted(["ok"]);
    const asked = async (entry: unknown): Promise<unknown> =>
      chat({ model, messages: "hi", tools: [entry as DataTool] }).catch((error: unknown) => error);
    expect(await asked({ ...weather, inputSchema: 7 })).toMatchObject({ code: "schema-invalid" });
    expect(await asked({ ...weather, inputSchema: { type: "string" } })).toMatchObject({
      code: "schema-invalid",
    });
    expect(await asked({ description: "x" })).toMatchObject({ code: "definition-invalid" });
    expect(await asked("get_weather")).toMatchObject({
      code: "definition-invalid",
      message: expect.stringContaining('got "get_weather"'),
    });
    expect(model.requests).toEqual([]);
  });

  it("cannot be called: execute, callTool, call, skills and agents say so [H2.3]", async () => {
    const data = weather as unknown as Tool & Record<"execute", never>;
    const asked = { type: "tool-call", id: "a", name: "get_weather", arguments: {} } as const;
    const refusal = { code: "definition-invalid", message: expect.stringContaining('Tool "get_weather"') };
    await expect(execute({ calls: [asked], tools: [data] })).rejects.toMatchObject(refusal);
    await expect(callTool(data, {})).rejects.toMatchObject(refusal);
    await expect(callTool([data], asked)).rejects.toMatchObject(refusal);
    await expect(call(data, {})).rejects.toMatchObject(refusal);
    const skills = [skill({ name: "s", description: "", tools: [data] })];
    expect(() => agent({ name: "a", model: () => "x", skills })).toThrow(expect.objectContaining(refusal));
    expect(() => agent({ name: "a", model: () => "x", tools: [data] })).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });
});

describe("validateCall", () => {
  const typed = tool({
    name: "typed",
    description: "",
    inputSchema: z.object({ city: z.string(), days: z.number().default(3) }),
    outputSchema: z.object({ celsius: z.number(), unit: z.string().default("C") }),
    execute: () => ({ celsius: 7 }),
  });

  it("holds arguments to the schema of a tool as data, of JSON Schema or of a library [H8.2]", async () => {
    expect(await validateCall(weather, { location: "London" })).toEqual({
      ok: true,
      value: { location: "London" },
    });
    const wrong = await validateCall(weather, { location: ["London"] });
    expect(wrong).toEqual({
      ok: false,
      issues: [{ path: ["location"], message: expect.stringContaining("string") }],
      text: expect.stringMatching(
        /^Tool 'get_weather' received invalid arguments: location: .* It did not run\./,
      ),
    });
    const byZod = { name: "w", description: "", inputSchema: z.object({ n: z.int().default(1) }) };
    const checked = await validateCall(byZod, {});
    expect(checked.ok && checked.value.n + 1).toBe(2);
    expect(await validateCall(byZod, { n: "x" })).toMatchObject({ ok: false, issues: [{ path: ["n"] }] });
    const anything = { name: "any", description: "" };
    expect(await validateCall(anything, { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
    expect(await validateCall(anything, [1, 2])).toMatchObject({ ok: false });
  });

  it("holds arguments to the schema of tool(), as a run does: without loss, with defaults, and with the same words [T6, H8.2]", async () => {
    const checked = await validateCall(typed, { city: 7 });
    expect(checked).toEqual({ ok: true, value: { city: "7", days: 3 }, coerced: ["city"] });
    const wrong = await validateCall(typed, { days: "many", town: "Lima" });
    const told = await callTool(typed, { days: "many", town: "Lima" });
    expect(wrong).toMatchObject({ ok: false, text: told.text });
    expect(told.text).toContain("Missing required parameters: city");
  });

  it("never throws for what a model wrote, and takes no text for arguments [H8.2]", async () => {
    for (const args of [undefined, null, 7, [], "{}", '{"location":"cut off', { __proto__: null }])
      expect(await validateCall(weather, args)).toMatchObject({ ok: false, text: expect.any(String) });
  });

  it("is for results too: what the output schema makes of them, and JSON alone [H8.3]", async () => {
    expect(await validateResult(weather, { celsius: 18 })).toEqual({ ok: true, value: { celsius: 18 } });
    expect(await validateResult(weather, { celsius: "warm" })).toEqual({
      ok: false,
      issues: [{ path: ["celsius"], message: expect.any(String) }],
      text: expect.stringMatching(
        /^Tool 'get_weather' failed: its result does not match its output schema: celsius: /,
      ),
    });
    const checked = await validateResult(typed, { celsius: 7 });
    expect(checked.ok && checked.value.unit.length).toBe(1);
    const anything = { name: "any", description: "" };
    expect(await validateResult(anything, "18°C")).toEqual({ ok: true, value: "18°C" });
    for (const value of [new Uint8Array(2), () => 18, Symbol("18")])
      expect(await validateResult(anything, value)).toMatchObject({ ok: false, issues: [{ path: [] }] });
  });
});

describe("a history written by hand", () => {
  const question = userMessage("Lima and Paris?");
  const reply: ReplyMessage = {
    role: "assistant",
    parts: ["Lima", "Paris"].map((location, index) => ({
      type: "tool-call",
      id: `call_${index}`,
      name: "get_weather",
      arguments: { location },
    })),
  };
  const result = (callId: string): Message =>
    ({ role: "tool", callId, name: "get_weather", status: "ok", text: `result of ${callId}` }) as const;
  const sent = async (...messages: readonly Message[]): Promise<unknown> => {
    const model = scripted(["Sunny."]);
    await chat({ model, messages: [question, reply, ...messages], tools: [weather] });
    return model.requests[0]?.messages.slice(2);
  };

  it("has its results matched by id, in whatever order they come [H5.2]", async () => {
    const ordered = [result("call_0"), result("call_1")];
    expect(await sent(result("call_1"), result("call_0"))).toEqual(ordered);
    expect(await sent(...ordered)).toEqual(ordered);
  });

  it.each([
    [
      "an id that nobody has",
      ["call_0", "call_7"],
      'message 3 cannot stand here: it is the result of "call_7", which no open call has as its id; open: "call_1" of get_weather',
    ],
    [
      "a second result",
      ["call_0", "call_0"],
      'message 3 cannot stand here: it is the result of "call_0", which has its result already; open: "call_1" of get_weather',
    ],
    ["a missing result", ["call_1"], 'message 1 has calls without a result: "call_0" of get_weather'],
    [
      "one too many",
      ["call_0", "call_1", "call_0"],
      'message 4 cannot stand here: it is the result of "call_0", and no call is open',
    ],
  ])("names %s by its id [H5.3]", async (_, ids, words) => {
    await expect(sent(...ids.map(result))).rejects.toMatchObject({
      code: "transcript-invalid",
      message: expect.stringContaining(words),
    });
  });

  it("that goes on before its results are there names the calls that wait [H5.3]", async () => {
    await expect(sent(result("call_0"), userMessage("And Rome?"))).rejects.toMatchObject({
      message: expect.stringContaining('a call has no result yet: "call_1" of get_weather'),
    });
  });

  it("is a text, a message or a list of them, and nothing else", async () => {
    await expect(chat({ model: scripted(["x"]), messages: undefined as never })).rejects.toMatchObject({
      code: "definition-invalid",
    });
    await expect(chat({ model: scripted(["x"]), messages: 7 as never })).rejects.toMatchObject({
      code: "definition-invalid",
    });
  });
});

describe("fields of a call that its tool does not have", () => {
  const run = async (inputSchema: z.ZodType, args: object): Promise<{ ran: unknown[]; text: string }> => {
    const ran: unknown[] = [];
    const remove = tool({
      name: "remove",
      description: "",
      inputSchema,
      execute: (given) => ran.push(given),
    });
    const { status, text } = await callTool(remove, args as never);
    return { ran, text: `${status}: ${text}` };
  };

  it("are refused with their name where the wire says that there is no room for them, and the tool does not run [T4.3]", async () => {
    const schema = z.object({ path: z.string(), how: z.object({ fast: z.boolean() }).optional() });
    const { ran, text } = await run(schema, { path: "/a", dryRun: true });
    expect(ran).toEqual([]);
    expect(text).toContain(
      "invalid: Tool 'remove' received invalid arguments: dryRun: unknown; known: path, how. It did not run.",
    );
    expect(await run(schema, { path: "/a", how: { fast: true, deep: 1 } })).toMatchObject({
      ran: [],
      text: expect.stringContaining("how.deep: unknown; known: fast"),
    });
    expect(await run(schema, { dryRun: true })).toMatchObject({
      text: expect.stringContaining("Missing required parameters: path; dryRun: unknown"),
    });
    expect((await run(schema, { path: "/a", how: { fast: true } })).ran).toHaveLength(1);
  });

  it("are refused in lists and alternatives too, each alternative by its own fields [T4.3]", async () => {
    const shape = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("circle"), radius: z.number() }),
      z.object({ kind: z.literal("square"), side: z.number() }),
    ]);
    const schema = z.object({
      shapes: z.array(shape),
      note: z.object({ text: z.string() }).nullable().default(null),
    });
    expect(
      (await run(schema, { shapes: [{ kind: "circle", radius: 1 }], note: { text: "x" } })).ran,
    ).toHaveLength(1);
    const mixed = await run(schema, { shapes: [{ kind: "circle", radius: 1, side: 2 }] });
    expect(mixed).toMatchObject({
      ran: [],
      text: expect.stringContaining("shapes[0].side: unknown; known: kind, radius"),
    });
    const inNote = await run(schema, { shapes: [], note: { text: "x", by: "y" } });
    expect(inNote).toMatchObject({ ran: [], text: expect.stringContaining("note.by: unknown; known: text") });
  });

  it("are refused by an agent that is a tool too, and dropped from what a program gives the agent itself [T4.3]", async () => {
    const asked: string[] = [];
    const model = ({ messages }: ModelRequest): string => {
      const last = messages.at(-1);
      asked.push(last?.role === "user" ? textOf(last) : "");
      return "done";
    };
    const input = z.object({ path: z.string() });
    const remover = agent({ name: "remover", description: "", model, input });
    const result = await callTool(remover.asTool(), { path: "/a", dryRun: true });
    expect(result).toMatchObject({
      status: "invalid",
      text: expect.stringContaining("dryRun: unknown; known: path"),
    });
    expect(asked).toEqual([]);
    const given = { path: "/a", more: 1 };
    await remover(given);
    expect(asked).toEqual(['{"path":"/a"}']);
  });

  it("reach the tool where its schema leaves room for them [T5, T4.6]", async () => {
    const open = z.looseObject({ path: z.string() });
    expect((await run(open, { path: "/a", dryRun: true })).ran).toEqual([{ path: "/a", dryRun: true }]);
    const map = z.record(z.string(), z.number());
    expect((await run(map, { a: 1 })).ran).toEqual([{ a: 1 }]);
  });
});

describe("a tool as data whose schema has a misspelt keyword", () => {
  const place = { type: "object", property: { city: { type: "string" } } } as const;
  const look = { name: "look", description: "Looks", inputSchema: place } satisfies DataTool;

  it("is refused by `chat`, and where its calls and results are checked", async () => {
    const refused = { code: "schema-invalid", message: expect.stringContaining('"properties"') };
    await expect(chat({ model: scripted(["ok"]), messages: "Hi", tools: [look] })).rejects.toMatchObject(
      refused,
    );
    await expect(validateCall(look, {})).rejects.toMatchObject(refused);
    const result = { name: "look", description: "", outputSchema: place } satisfies DataTool;
    await expect(validateResult(result, {})).rejects.toMatchObject(refused);
  });
});
