import type { Json, JsonObject } from "../../src/util/json.ts";
import { type } from "arktype";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { call, callTool, type Chosen, decide, type ResultMessage, type ToolResult } from "../../src/doors.ts";
import { jsonDriver } from "../../src/drivers.ts";
import { modelNamed } from "../../src/models.ts";
import {
  agent,
  type Agent,
  type ErrorCode,
  type Skill,
  skill,
  type Tool,
  tool,
  WritError,
} from "../../src/index.ts";
import { fakeOpenai, scripted } from "../../src/testing.ts";
import { labelled, validateCall, type Validated, validateResult } from "../../src/tools.ts";

describe("the name of a model", () => {
  it("begins with a provider that there is", () => {
    agent({ name: "a", model: "openai/gpt-5" });
    agent({ name: "a", model: "ollama/qwen2.5:7b" });
    // @ts-expect-error -- no provider
    agent({ name: "a", model: "gpt-4o" });
    // @ts-expect-error -- a provider that nobody knows
    agent({ name: "a", model: "opnai/gpt-4o" });
    const outside: string = process.env["MODEL"] ?? "";
    // @ts-expect-error -- a text from outside may be anything
    agent({ name: "a", model: outside });
    agent({ name: "a", model: modelNamed(outside) });
  });
});

describe("the result of a run", () => {
  const namer = agent({ name: "a", model: scripted(["x"]), output: z.object({ city: z.string() }) });

  it("has an output where it has no error", async () => {
    const run = await namer.run("Which?");
    // @ts-expect-error -- it may have ended without an answer
    run.output.city.trim();
    if (run.error !== undefined) throw run.error;
    expectTypeOf(run.output).toEqualTypeOf<{ city: string }>();
    expectTypeOf(run.outcome.type).toEqualTypeOf<"answered">();
  });

  it("keeps it in parts", async () => {
    const { output, error, outcome } = await namer.run("Which?");
    if (error === undefined) expectTypeOf(output).toEqualTypeOf<{ city: string }>();
    else expectTypeOf(outcome.type).extract<"answered">().toBeNever();
  });
});

describe("inference", () => {
  it("takes a made tool with another schema in a definition", () => {
    const made = tool({
      name: "a",
      description: "",
      inputSchema: z.object({ a: z.string() }),
      execute: () => 1,
    });
    const inputSchema = z.object({ b: z.number() });
    const other = tool({ ...made, inputSchema, execute: ({ b }) => b > 1 });
    expectTypeOf<Parameters<typeof other.execute>[0]>().toEqualTypeOf<{ b: number }>();
    expectTypeOf<ReturnType<typeof other.execute>>().toEqualTypeOf<boolean | Promise<boolean>>();
    tool({ ...made, inputSchema: z.object({ a: z.string() }), name: "again" });
    // @ts-expect-error -- the function of the made tool takes other arguments
    tool({ ...made, inputSchema });
  });

  it("gives a decision the union of its options", () => {
    const decision = decide({ question: "Deploy?", options: ["deploy", "wait"] });
    expectTypeOf(decision).resolves.toHaveProperty("option").toEqualTypeOf<"deploy" | "wait" | undefined>();
    const open: readonly string[] = ["deploy", "wait"];
    expectTypeOf(decide({ question: "Deploy?", options: open })).resolves.toEqualTypeOf<Chosen>();
  });

  it("gives execute the arguments of the schema, and the tool their types [H8.4, T4.2]", () => {
    const search = tool({
      name: "search",
      description: "",
      inputSchema: z.object({ query: z.string(), limit: z.number().default(3) }),
      execute: (args, context) => {
        expectTypeOf(args).toEqualTypeOf<{ query: string; limit: number }>();
        expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
        return args.limit;
      },
    });
    expectTypeOf<Parameters<typeof search.execute>[0]>().toEqualTypeOf<{ query: string; limit: number }>();
    tool({
      name: "ark",
      description: "",
      inputSchema: type({ city: "string" }),
      execute: ({ city }) => expectTypeOf(city).toEqualTypeOf<string>(),
    });
    tool({
      name: "raw",
      description: "",
      inputSchema: { type: "object" },
      execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
    });
  });

  it("holds execute to the output schema, and gives what the schema makes of its result [H8.4, T4.2]", () => {
    const about = { name: "t", description: "", inputSchema: z.object({}) };
    const dated = tool({
      ...about,
      outputSchema: z.object({ kind: z.enum(["day", "week"]), at: z.string().transform(Number) }),
      execute: () => ({ kind: "day" as const, at: "7" }),
    });
    expectTypeOf(call(dated, {})).resolves.toEqualTypeOf<{ kind: "day" | "week"; at: number }>();
    tool({ ...about, outputSchema: z.enum(["a", "b"]), execute: async () => Promise.resolve("a" as const) });
    tool({ ...about, outputSchema: z.number(), execute: () => labelled(7, { integrity: "trusted" }) });
    tool({ ...about, outputSchema: type({ b: "number" }), execute: () => ({ b: 1 }) });
    tool({ ...about, outputSchema: { type: "string" }, execute: () => 7 }); // a JSON Schema says nothing to TypeScript
    // @ts-expect-error a text is no number
    tool({ ...about, outputSchema: z.object({ b: z.number() }), execute: () => ({ b: "x" }) });
    const late = async (): Promise<{ b: string }> => Promise.resolve({ b: "x" });
    // @ts-expect-error a promise of a text is none either
    tool({ ...about, outputSchema: z.object({ b: z.number() }), execute: late });
    // @ts-expect-error b is missing
    tool({ ...about, outputSchema: type({ b: "number" }), execute: () => ({}) });
  });

  it("holds the arguments of call() to the input schema [H8.4]", () => {
    const read = tool({
      name: "read",
      description: "",
      inputSchema: z.object({ path: z.string(), lines: z.number().default(10) }),
      execute: ({ path, lines }) => path.length + lines,
    });
    expectTypeOf(call(read, { path: "/a" })).resolves.toEqualTypeOf<number>();
    // @ts-expect-error a number is no path
    void call(read, { path: 1 });
    // @ts-expect-error the path is missing
    void call(read, {});
    const raw = tool({ name: "raw", description: "", inputSchema: { type: "object" }, execute: () => "x" });
    expectTypeOf(call(raw, { anything: 1 })).resolves.toEqualTypeOf<string>();
    const whichever: Tool = read;
    expectTypeOf(call(whichever, { anything: 1 })).resolves.toBeUnknown();
  });

  it("refuses what callTool() is given, and not the tool", () => {
    const read = tool({ name: "read", description: "", inputSchema: z.object({}), execute: () => 1 });
    const odd: unknown = {};
    void callTool(
      read,
      // @ts-expect-error anything may be no JSON
      odd,
    );
    expectTypeOf(callTool(read, {})).resolves.toEqualTypeOf<ToolResult>();
    expectTypeOf(callTool([read, [read]], { name: "read" })).resolves.toEqualTypeOf<ResultMessage>();
  });

  it("knows the code and the data of an error by its class", () => {
    const error: unknown = undefined;
    if (!(error instanceof WritError)) return;
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
    expectTypeOf(error.data).not.toBeAny();
  });

  it("types what validateCall and validateResult give, of tools and of tools as data [H8.4]", () => {
    const schemas = { inputSchema: z.object({ n: z.number().default(1) }), outputSchema: z.string() };
    const data = { name: "d", description: "", ...schemas };
    expectTypeOf(validateCall(data, {})).resolves.toEqualTypeOf<Validated<{ n: number }>>();
    expectTypeOf(validateResult(data, "x")).resolves.toEqualTypeOf<Validated<string>>();
    expectTypeOf(validateCall({ name: "d", description: "" }, {})).resolves.toEqualTypeOf<
      Validated<JsonObject>
    >();
    const made = tool({ ...data, execute: ({ n }) => String(n) });
    expectTypeOf(validateCall(made, {})).resolves.toEqualTypeOf<Validated<{ n: number }>>();
    expectTypeOf(validateResult(made, "x")).resolves.toEqualTypeOf<Validated<string>>();
    // @ts-expect-error a tool as data cannot be called
    agent({ name: "a", tools: [data] });
  });

  it("types input and output of an agent [A1.2]", () => {
    const plain = agent({ name: "a", model: () => "x" });
    expectTypeOf(plain("x")).resolves.toEqualTypeOf<string>();
    const typed = agent({
      name: "a",
      model: () => "x",
      input: z.object({ city: z.string() }),
      output: z.object({ rain: z.boolean() }),
    });
    expectTypeOf(typed).parameter(0).toEqualTypeOf<{ city: string }>();
    expectTypeOf(typed({ city: "Lima" })).resolves.toEqualTypeOf<{ rain: boolean }>();
    expectTypeOf(typed).toExtend<Agent<{ city: string }, { rain: boolean }>>();
    // @ts-expect-error the input has no city
    void typed({});
    // @ts-expect-error a tool is no text
    agent({ name: "a", tools: [7] });
  });

  it("takes handles of tools in a skill, and not a value that is none [T3.1]", () => {
    const own = tool({ name: "own", description: "", inputSchema: z.object({}), execute: () => 1 });
    skill({ name: "s", description: "", tools: [own, [own]] });
    // @ts-expect-error a function is no tool
    skill({ name: "s", description: "", tools: [() => 1] });
    // @ts-expect-error a handle that is not there
    skill({ name: "s", description: "", tools: [onw] });
  });

  it("holds the output of skills to that of their agent, and gives theirs where it has none [K2]", () => {
    const about = { description: "", tools: [] };
    const counted = z.object({ n: z.number() });
    const text = skill({ ...about, name: "text", output: z.string() });
    const count = skill({ ...about, name: "count", output: counted });
    const open = skill({ ...about, name: "open" });
    const parsed = skill({ ...about, name: "parsed", parse: async (said) => Promise.resolve(said.length) });
    const plain = skill({ name: "plain", description: "", execute: (input) => String(input).length > 3 });
    const raw = skill({ ...about, name: "raw", output: { type: "object" } });
    const named = { name: "a", model: () => "x" };
    expectTypeOf(
      agent({ ...named, output: counted, skills: [open, count, raw] })("x"),
    ).resolves.toEqualTypeOf<{
      n: number;
    }>();
    // @ts-expect-error a text is no { n: number }
    agent({ ...named, output: counted, skills: [open, text] });
    // @ts-expect-error neither is a number
    agent({ ...named, output: counted, skills: [parsed] });
    // @ts-expect-error nor true or false
    agent({ ...named, output: counted, skills: [plain] });
    expectTypeOf(agent({ ...named, skills: [open] })("x")).resolves.toEqualTypeOf<string>();
    expectTypeOf(agent({ ...named, skills: [open, count] })("x")).resolves.toEqualTypeOf<
      string | { n: number }
    >();
    expectTypeOf(agent({ ...named, skills: [parsed, plain] })("x")).resolves.toEqualTypeOf<
      number | boolean
    >();
    const known: readonly Skill[] = [open];
    expectTypeOf(agent({ ...named, skills: known })("x")).resolves.toEqualTypeOf<string>();
    expectTypeOf(agent({ ...named, skills: [text] })("x")).resolves.toEqualTypeOf<string>();
  });

  it("takes the arguments of a script as the program has them: of an interface, and with fields left out", () => {
    interface Order {
      readonly order: string;
    }
    const order: Order = { order: "17" };
    const calls = [{ name: "look", arguments: order }];
    expectTypeOf(scripted).toBeCallableWith([{ calls }]);
    expectTypeOf(fakeOpenai).toBeCallableWith([
      ({ path }) => ({ calls: [{ name: "look", arguments: { order: /\d/.exec(path)?.[0] } }] }),
    ]);
  });

  it("gives the function of a plain skill the type of the skill's input, and unknown without one", () => {
    const row = z.object({ id: z.string(), euro: z.number().default(1) });
    const booked = skill({
      name: "book",
      description: "",
      input: row,
      execute(given) {
        expectTypeOf(given).toEqualTypeOf<{ id: string; euro?: number | undefined }>();
        return { booked: given.id };
      },
    });
    expectTypeOf(agent({ name: "a", input: row, skills: [booked] })).returns.resolves.toEqualTypeOf<{
      booked: string;
    }>();
    skill({ name: "s", description: "", execute: (given) => expectTypeOf(given).toBeUnknown() });
    skill({ name: "s", description: "", input: row, execute: (given: unknown) => given });
    // @ts-expect-error a row has no such field
    skill({ name: "s", description: "", input: row, execute: ({ euros }) => euros });
    // @ts-expect-error the function takes a number
    skill({ name: "s", description: "", input: row, execute: (given: number) => given });
  });

  it("gives JSON where the program chose a driver whose answers are JSON, and text elsewhere [P7.2]", () => {
    const named = { name: "a", model: () => "x" };
    expectTypeOf(agent({ ...named, driver: "json" })("x")).resolves.toEqualTypeOf<Json>();
    expectTypeOf(
      agent({ ...named, driver: jsonDriver({ maxRetries: 1 }) })("x"),
    ).resolves.toEqualTypeOf<Json>();
    expectTypeOf(agent({ ...named, driver: "auto" })("x")).resolves.toEqualTypeOf<string>();
    expectTypeOf(agent({ ...named, driver: "native" })("x")).resolves.toEqualTypeOf<string>();
    expectTypeOf(
      agent({ ...named, driver: "json", output: z.number() })("x"),
    ).resolves.toEqualTypeOf<number>();
  });
});

describe("with", () => {
  const plain = agent({ name: "a", model: () => "x" });
  const typed = agent({ name: "b", model: () => "{}", output: z.object({ n: z.number() }) });

  it("gives the output of a new schema, and keeps that of an agent whose schema stays", () => {
    expectTypeOf(plain.with({ output: z.object({ s: z.string() }) })("x")).toEqualTypeOf<
      Promise<{ s: string }>
    >();
    expectTypeOf(plain.with({ settings: { seed: 1 } })("x")).toEqualTypeOf<Promise<string>>();
    expectTypeOf(typed.with({ instructions: "Be brief." })("x")).toEqualTypeOf<Promise<{ n: number }>>();
    expectTypeOf(typed.with({ output: undefined })("x")).toEqualTypeOf<Promise<string>>();
    expectTypeOf(typed.with(({ budget }) => ({ budget: { ...budget } }))("x")).toEqualTypeOf<
      Promise<{ n: number }>
    >();
    // @ts-expect-error -- it gives an object
    const text: Promise<string> = plain.with({ output: z.object({ s: z.string() }) })("x");
    void text;
  });

  it("gives answers in the form of a new driver, where no schema says otherwise", () => {
    expectTypeOf(plain.with({ driver: "json" })("x")).toEqualTypeOf<Promise<Json>>();
    expectTypeOf(plain.with({ driver: "json" }).with({ driver: "native" })("x")).toEqualTypeOf<
      Promise<string>
    >();
    expectTypeOf(typed.with({ driver: "json" })("x")).toEqualTypeOf<Promise<{ n: number }>>();
  });

  it("takes the input of a new schema, refuses fields that there are not, and stays an agent", () => {
    const asked = plain.with({ input: z.object({ q: z.string() }) });
    expectTypeOf(asked).parameter(0).toEqualTypeOf<{ q: string }>();
    // @ts-expect-error -- there is no such field
    plain.with({ modle: () => "x" });
    const any: Agent = typed.with({ name: "c" });
    void any;
  });
});
