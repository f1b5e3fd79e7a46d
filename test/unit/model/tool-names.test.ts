import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { chat } from "../../../src/doors.ts";
import type { Message } from "../../../src/message/message.ts";
import { matchName, type WireNames, wireNames } from "../../../src/model/tool-names.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

const anyProvider = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

function namesOf(...names: readonly string[]): WireNames {
  return wireNames({ tools: new Map(names.map((name) => [name, name])) });
}

const word = fc.constantFrom(
  "a",
  "b",
  "A",
  "file",
  "9",
  "",
  "é",
  "日本",
  "👩‍👩‍👧",
  "x".repeat(30),
  "constructor",
  "__proto__",
);
const sign = fc.constantFrom(".", "_", "-", "/", ":", " ", "");
const name = fc.oneof(
  fc.array(fc.tuple(word, sign), { maxLength: 4 }).map((parts) => parts.flat().join("")),
  fc.string({ unit: "binary", maxLength: 80 }),
);
const names = fc.uniqueArray(name, { maxLength: 12 });

describe("the names of any tools", () => {
  it("are distinct, what every provider takes, and told back; those that were so already stay [H9.2]", () => {
    fc.assert(
      fc.property(names, (list) => {
        const { toWire, fromWire, identity } = namesOf(...list);
        const wires = list.map(toWire);
        expect(new Set(wires).size).toBe(list.length);
        expect(wires.every((wire) => anyProvider.test(wire))).toBe(true);
        expect(wires.map(fromWire)).toEqual(list);
        list.forEach((each, index) => anyProvider.test(each) && expect(wires[index]).toBe(each));
        expect(identity).toBe(list.every((each) => anyProvider.test(each)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("do not depend on the order of the tools", () => {
    fc.assert(
      fc.property(
        names.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        ([list, shuffled]) => {
          expect(list.map(namesOf(...shuffled).toWire)).toEqual(list.map(namesOf(...list).toWire));
        },
      ),
    );
  });

  it("are not changed by another tool, unless the two would be told alike", () => {
    fc.assert(
      fc.property(names, name, (list, added) => {
        fc.pre(!list.includes(added));
        const alone = namesOf(added).toWire(added);
        const before = namesOf(...list);
        const after = namesOf(...list, added);
        for (const each of list)
          if (namesOf(each).toWire(each) !== alone) expect(after.toWire(each)).toBe(before.toWire(each));
      }),
      { numRuns: 1_000 },
    );
  });

  it("keep long names apart that differ only at their ends", () => {
    const long = ["a", "b", "c"].map((end) => `kom.${"memory_".repeat(8)}${end}`.padEnd(70, end));
    const wires = long.map(namesOf(...long).toWire);
    expect(new Set(wires).size).toBe(3);
    expect(long.map((each) => namesOf(each).toWire(each))).toEqual(wires);
    expect(wires.every((wire) => wire.startsWith("kom_memory_memory_") && wire.length === 64)).toBe(true);
  });

  it("give a name that is no tool any more one that no tool has", () => {
    const { toWire, message } = namesOf("file_read", "kom.save");
    expect(toWire("kom.load")).toBe("kom_load");
    for (const gone of ["file.read", "kom_save", "日本", "x".repeat(90), ""]) {
      expect(toWire(gone)).toMatch(anyProvider);
      expect(["file_read", "kom_save"]).not.toContain(toWire(gone));
    }
    const reply: Message = {
      role: "assistant",
      parts: [{ type: "tool-call", id: "1", name: "file.read", arguments: {} }],
    };
    const renamed = message(reply);
    expect(renamed).toMatchObject({ parts: [{ name: toWire("file.read") }] });
    expect(message(reply)).toBe(renamed);
  });
});

describe("the names that a model takes", () => {
  const tools = ["kom.memory.v1.search_memory", "server/tool"].map((each) => fakeTool(each, each));
  const calls = (model: ReturnType<typeof scripted>): readonly string[] | undefined =>
    model.requests[0]?.tools.map((tool) => tool.name);

  it("are told it as they are where its features say so, each request by its own model's", async () => {
    const names = ["kom_memory_v1_search_memory", "server_tool"];
    const strict = (): ReturnType<typeof scripted> =>
      scripted([{ calls: names.map((called) => ({ name: called })) }, "done"]);
    const dotted = scripted(
      [{ calls: [{ name: "kom.memory.v1.search_memory" }, { name: "server_tool" }] }, "done"],
      { features: { tools: true, toolNames: /^[\w.-]{1,64}$/ } },
    );
    const [before, after] = [strict(), strict()];
    for (const model of [before, dotted, after]) {
      const { transcript } = await agent({ name: "a", model, tools }).run("x");
      const results = transcript.messages.filter((message) => message.role === "tool");
      expect(results.map(({ name: called }) => called)).toEqual([
        "kom.memory.v1.search_memory",
        "server/tool",
      ]);
      expect(results.every(({ status }) => status === "ok")).toBe(true);
    }
    expect(calls(before)).toEqual(names);
    expect(calls(after)).toEqual(names);
    expect(calls(dotted)).toEqual(["kom.memory.v1.search_memory", "server_tool"]);
  });

  it("are told it in one question without a loop too", async () => {
    const model = scripted([{ calls: [{ name: "server_tool" }] }]);
    const reply = await chat({ model, messages: "x", tools });
    expect(reply.calls.map((call) => call.name)).toEqual(["server/tool"]);
    expect(calls(model)).toEqual(["kom_memory_v1_search_memory", "server_tool"]);
  });
});

describe("matchName", () => {
  const known = ["kom.memory.v1.search_memory", "server/tool", "Add", "add_one"];

  it.each([
    ["kom.memory.v1.search_memory", "kom.memory.v1.search_memory"],
    ["kom_memory_v1_search_memory", "kom.memory.v1.search_memory"],
    ["KOM-memory:v1/search-memory", "kom.memory.v1.search_memory"],
    ["server.tool", "server/tool"],
    ["add", "Add"],
    ["add-one", "add_one"],
    ["functions.add_one", "add_one"],
    ["functions.server/tool", "server/tool"],
    ["addone", undefined],
    ["tool", undefined],
    ["", undefined],
    ["constructor", undefined],
  ])("%s means %s", (written, meant) => {
    expect(matchName(written, known)).toBe(meant);
  });

  it("takes the very name before one that is only like it, and none of several", () => {
    expect(matchName("a_b", ["a.b", "a_b", "A_B"])).toBe("a_b");
    expect(matchName("a-b", ["a.b", "a_b"])).toBeUndefined();
  });
});

describe("tool names on the wire", () => {
  it("are what providers accept, each one's own, and told back [H9.2]", async () => {
    const tools = ["file.read", "file_read", "github.create_pr"].map((name) => fakeTool(name, name));
    const marked = namesOf("file.read", "file_read").toWire("file.read");
    const told = [marked, "file_read", "github_create_pr"];
    const model = scripted([{ calls: told.map((name) => ({ name })) }, "done"]);
    const result = await agent({ name: "a", model, tools }).run("x");
    const [first, second] = model.requests;
    expect(first?.tools.map((tool) => tool.name)).toEqual(told);
    expect(JSON.stringify(first?.messages[0])).not.toContain("- file.read");
    const results = result.transcript.messages.flatMap((message) =>
      message.role === "tool" ? [message.name] : [],
    );
    expect(results).toEqual(["file.read", "file_read", "github.create_pr"]);
    const sent = second?.messages.flatMap((message) => (message.role === "tool" ? [message.name] : []));
    expect(sent).toEqual(told);
    const forced = scripted(["done"]);
    await agent({ name: "a", model: forced, tools, toolChoice: { tool: "file.read" } }).run("x");
    expect(forced.requests[0]?.toolChoice).toEqual({ tool: marked });
  });

  it("never lets a hostile name into the transcript, nor run [Z3.1]", async () => {
    const names = ["rm -rf /", "", "x".repeat(500), "naïve\n"];
    const model = scripted([{ calls: names.map((name) => ({ name })) }, "done"]);
    const result = await agent({ name: "a", model, tools: [fakeTool("rm", 1)] }).run("x");
    const results = result.transcript.messages.filter((message) => message.role === "tool");
    expect(results.every((message) => message.status === "denied")).toBe(true);
    expect(results.every((message) => /^[a-zA-Z0-9_.-]{1,64}$/.test(message.name))).toBe(true);
  });
});
