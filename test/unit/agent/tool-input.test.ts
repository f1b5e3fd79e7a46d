import { describe, expect, it } from "vitest";
import { z } from "zod";
import { branch, pipe, subagents } from "../../../src/compose.ts";
import { agent, type Tool } from "../../../src/index.ts";
import type { SchemaSource } from "../../../src/tools.ts";
import { scripted, type ScriptedModel } from "../../../src/testing.ts";
import { calling, resultsIn } from "../../acceptance/watching.ts";

const heard = (model: ScriptedModel): unknown => model.requests[0]?.messages.at(-1);

/** One call of a tool, and its end. */
async function called(made: Tool, args: object): Promise<string> {
  const outer = agent({
    name: "outer",
    model: scripted([calling([made.name, args as never]), "done"]),
    tools: [made],
  });
  const [result] = resultsIn((await outer.run("go")).transcript);
  return `${result?.status}: ${result?.text}`;
}

describe("the input of an agent as a tool", () => {
  it("is parsed once: by the agent, whose schema may change it", async () => {
    const model = scripted(["one", "two"]);
    const loud = agent({
      name: "loud",
      model,
      input: z.object({ word: z.string().transform((word) => `${word}!`) }),
    });
    expect(await called(loud.asTool(), { word: "tea" })).toBe("ok: one");
    expect(heard(model)).toMatchObject({ parts: [{ text: '{"word":"tea!"}' }] });
    const counts = agent({
      name: "counts",
      model: scripted(["three"]),
      input: z.object({ text: z.string().transform((text) => text.length) }),
    });
    expect(await called(counts.asTool(), { text: "tea" })).toBe("ok: three");
  });

  it("stands in the field `input` where the agent takes no object", async () => {
    const either = z.union([z.object({ city: z.string() }), z.object({ zip: z.number() })]);
    const nested: SchemaSource = {
      $defs: { tree: { type: "array", items: { $ref: "#/$defs/tree" } } },
      $ref: "#/$defs/tree",
    };
    for (const [input, good, bad] of [
      [either, { city: "Lima" }, { city: 1 }],
      [z.array(z.string()), ["tea"], ["tea", 1]],
      [z.number(), 5, "five"],
      [z.string().max(3), "tea", "coffee"],
      [nested, [[], [[]]], [[1]]],
    ] as const) {
      const model = scripted(["ok"]);
      const made = agent({ name: "inner", model, input }).asTool();
      expect(await called(made, { input: bad })).toContain("invalid arguments: input");
      expect(await called(made, { input: good, more: 1 })).toContain("more: unknown");
      expect(await called(made, { input: good })).toBe("ok: ok");
      const shown = typeof good === "string" ? good : JSON.stringify(good);
      expect(heard(model)).toMatchObject({ parts: [{ text: shown }] });
    }
    const { input } = agent({ name: "inner", model: scripted([]), input: nested }).asTool();
    expect(JSON.stringify(input.jsonSchema)).toContain('{"$ref":"#/$defs/input/$defs/tree"}');
  });
});

describe("the options of an agent as a tool", () => {
  const child = agent({ name: "child", model: scripted([]) });

  it("are held to what they may be", () => {
    for (const [options, fault] of [
      [{ effect: "wirte" }, "`effect` must be one of none, read, write, irreversible"],
      [{ timeoutMs: "soon" }, "`timeoutMs` must be a positive number"],
      [{ timeoutMs: -1 }, "`timeoutMs` must be a positive number"],
      [{ fresh: "yes" }, "`fresh` must be true or false"],
      [{ deny: "publish" }, "`deny` must be a list"],
      [{ alow: [] }, 'has the unknown field "alow"; did you mean "allow"?'],
    ] as const) {
      expect(() => child.asTool(options as object)).toThrow(fault);
      expect(() => pipe(child, child).asTool({ name: "both", ...options } as object)).toThrow(fault);
    }
    expect(() => subagents([child], { effect: "wirte" } as object)).toThrow("`effect` must be one of");
    expect(() => subagents([child], { timeoutMs: 0 })).toThrow("`timeoutMs` must be a positive number");
    expect(() => subagents([undefined as never])).toThrow(
      "`[0]` must be an agent, or a composition with a name",
    );
    const given = branch({ on: () => "a", cases: { a: child }, otherwise: child });
    expect(given.asTool({ name: "given", effect: "read" }).effect).toBe("read");
  });
});
