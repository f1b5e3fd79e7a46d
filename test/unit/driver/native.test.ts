import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Reading } from "../../../src/driver/driver.ts";
import { nativeDriver } from "../../../src/driver/native.ts";
import type { ReplyPart } from "../../../src/message/message.ts";
import { fakeTool } from "../../../src/testing.ts";
import { readGbnf } from "../../gbnf.ts";
import { callOf, replyOf, turnOf } from "./turn.ts";

const search = fakeTool("search", "a result");
const output = z.object({ city: z.string(), days: z.int() });

describe("native calls whose arguments leak into the text", () => {
  const args = { query: "writ", page: { size: 5, of: [1, 2] } };
  const read = (...parts: readonly (string | ReplyPart)[]): Reading =>
    nativeDriver.read(replyOf(...parts), turnOf({ tools: [search] }));

  it("case 37: text that says the arguments of a call again is dropped, whatever its form [C4.2]", () => {
    for (const text of [
      JSON.stringify(args),
      JSON.stringify(args, undefined, 2),
      '\n {"page": {"of": [1, 2], "size": 5}, "query": "writ"} ',
    ]) {
      const reading = read(text, callOf("search", args));
      expect(reading).toMatchObject({ type: "calls", message: { parts: [{ type: "tool-call" }] } });
      expect(reading.message.parts).toHaveLength(1);
    }
    const second = read("{}", callOf("search", args), callOf("search", {}));
    expect(second.message.parts.map(({ type }) => type)).toEqual(["tool-call", "tool-call"]);
  });

  it("case 37: natural text is kept, and so is JSON that says something else [C4.2]", () => {
    for (const text of [
      "Let me search.",
      `Let me search: ${JSON.stringify(args)}`,
      '{"query": "other"}',
      '{"query": "writ"}',
      '{"query": "wr',
      "[1]",
    ]) {
      const reply = replyOf(text, callOf("search", args));
      expect(nativeDriver.read(reply, turnOf({ tools: [search] })).message).toBe(reply.message);
    }
    expect(read(JSON.stringify(args))).toMatchObject({ type: "final", content: JSON.stringify(args) });
    const thinking = read({ type: "reasoning", text: "{}" }, "{}", callOf("search", {}));
    expect(thinking.message.parts.map(({ type }) => type)).toEqual(["reasoning", "tool-call"]);
  });
});

describe("what native models write beside their answer", () => {
  it.each(["<think>so</think>Lima", "[THINK]so[/THINK]Lima", "so[/THINK]\nLima"])(
    "is reasoning where it is thought: %s",
    (text) => {
      const { parts } = nativeDriver.read(replyOf(text), turnOf()).message;
      expect(parts).toEqual([
        { type: "reasoning", text: "so" },
        { type: "text", text: "Lima" },
      ]);
    },
  );

  it("is no part of the name of a tool where it is blank", () => {
    const { allowed } = turnOf({ tools: [search, fakeTool("kom.memory", 1)] });
    const named = [" search ", "search\n", "kom_memory ", " other"].map((name) =>
      nativeDriver.toolName(name, allowed),
    );
    expect(named).toEqual(["search", "search", "kom.memory", "other"]);
  });

  it("is the tool that can be meant alone where a name is spelled otherwise, and none that was taken away", () => {
    const before = turnOf({ tools: [search, fakeTool("find_all", 1), fakeTool("find.all", 1)] }).allowed;
    const { tools } = turnOf({ tools: [search, fakeTool("find_all", 1)] }).allowed;
    const named = (name: string): string =>
      nativeDriver.toolName(name, { ...before, tools, before: before.tools });
    expect(["Search", "find-all", "find.all"].map(named)).toEqual(["search", "find_all", "find.all"]);
  });

  it("loses the tokens of a chat template that a server leaves at it", () => {
    const { allowed } = turnOf({ tools: [search, fakeTool("kom.memory", 1)] });
    const written = [
      "search<|channel|>commentary",
      "functions.kom_memory<|constrain|>json",
      "other<|channel|>final",
    ];
    const named = written.map((name) => nativeDriver.toolName(name, allowed));
    expect(named).toEqual(["search", "kom.memory", "other<|channel|>final"]);
  });

  it("is no part of the name of a tool where it is a namespace that models make up", () => {
    const { allowed } = turnOf({ tools: [search, fakeTool("kom.memory", 1), fakeTool("tools.list", 1)] });
    const written = ["functions.search", "default_api:search", "functions.kom_memory", "tools.kom.memory"];
    const named = [...written, "tools.list", "functions.other"].map((name) =>
      nativeDriver.toolName(name, allowed),
    );
    expect(named).toEqual(["search", "search", "kom.memory", "kom.memory", "tools.list", "functions.other"]);
  });
});

describe("answers that native models are held to", () => {
  const formatOf = (about: Parameters<typeof turnOf>[0]) => nativeDriver.request(turnOf(about)).format;
  const schema = { type: "schema", schema: expect.objectContaining({ required: ["city", "days"] }) };

  it("sends the schema, or its grammar, where no tool can be called [G4]", () => {
    expect(formatOf({ output, features: { format: "schema" } })).toEqual(schema);
    expect(formatOf({ output, features: { format: "schema" }, tools: [search], toolChoice: "none" })).toEqual(
      schema,
    );
    const grammatical = formatOf({ output, features: { format: "grammar" } });
    const grammar = readGbnf(grammatical?.type === "grammar" ? grammatical.grammar : "");
    expect(grammar.matches('{"city":"Lima","days":3}')).toBe(true);
    expect(grammar.matches('{"city":"Lima"}')).toBe(false);
  });

  it("sends it beside tools only where it binds the answer and not the calls [G4]", () => {
    const withTools = { output, tools: [search] };
    expect(formatOf({ ...withTools, features: { format: "schema", formatWithTools: true } })).toEqual(schema);
    expect(formatOf({ ...withTools, features: { format: "schema" } })).toBeUndefined();
    expect(formatOf({ ...withTools, features: {} })).toBeUndefined();
    for (const toolChoice of ["required", { tool: "search" }] as const) {
      const features = { format: "schema", formatWithTools: true } as const;
      expect(formatOf({ ...withTools, toolChoice, features })).toBeUndefined();
    }
  });

  it("sends none where the answer is free, a text, or the model cannot be held [G4]", () => {
    expect(formatOf({ features: { format: "schema" } })).toBeUndefined();
    expect(formatOf({ output: z.string(), features: { format: "schema" } })).toBeUndefined();
    expect(formatOf({ output })).toBeUndefined();
  });

  it("makes the format once, so that requests of a run are alike [G4]", () => {
    const turn = turnOf({ output, features: { format: "grammar" } });
    expect(nativeDriver.request(turn).format).toBe(nativeDriver.request({ ...turn, settings: {} }).format);
    expect(nativeDriver.request(turn).format).not.toBe(formatOf({ output, features: { format: "schema" } }));
  });
});
