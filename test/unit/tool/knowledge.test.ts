import { describe, expect, it } from "vitest";
import { isKnowledge, knowledge, type KnowledgeDefinition } from "../../../src/tool/knowledge.ts";
import { tool } from "../../../src/tool/tool.ts";

const { signal } = new AbortController();

function loading(load: KnowledgeDefinition["load"]): Promise<unknown> {
  return knowledge({ name: "faq", description: "Frequent questions", load }).execute({}, { signal });
}

describe("knowledge", () => {
  it("is a tool without arguments that reads, of the kind knowledge [K4.1]", async () => {
    const faq = knowledge({ name: "faq", description: "Frequent questions", load: () => "text" });
    expect(faq).toMatchObject({
      name: "faq",
      description: "Frequent questions",
      kind: "knowledge",
      effect: "read",
    });
    expect(faq.input.jsonSchema).toEqual({ type: "object", properties: {}, additionalProperties: false });
    expect(await faq.input.parse({})).toMatchObject({ ok: true });
    expect(await faq.input.parse({ a: 1 })).toMatchObject({ ok: false });
  });

  it("loads when it is called, not before, and each time anew [K5, K4.2]", async () => {
    const state = { loads: 0 };
    const faq = knowledge({
      name: "faq",
      description: "",
      load: () => {
        state.loads += 1;
        return { loads: state.loads };
      },
    });
    await Promise.resolve();
    expect(state.loads).toBe(0);
    expect(await faq.execute({}, { signal })).toEqual({ loads: 1 });
    state.loads = 10;
    expect(await faq.execute({}, { signal })).toEqual({ loads: 11 });
  });

  it("takes text and JSON, also from a promise", async () => {
    expect(await loading(() => "")).toBe("");
    expect(await loading(async () => ({ days: [1, 2], none: null }))).toEqual({ days: [1, 2], none: null });
    expect(await loading(() => 5)).toBe(5);
  });

  it.each([
    ["nothing", undefined, "`load` gave nothing"],
    ["bytes", new Uint8Array([65]), expect.stringContaining("bytes in a buffer")],
    ["a map", new Map([["a", 1]]), expect.stringContaining("it has a Map")],
    ["a function", () => 1, "it is a function"],
  ])("refuses %s: the model would read null or {}", async (_, value, reason) => {
    await expect(loading(() => value as object)).rejects.toMatchObject({
      code: "knowledge-invalid",
      data: { name: "faq", reason },
    });
  });

  it("refuses a value that goes in a circle", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    await expect(loading(() => circle)).rejects.toMatchObject({ code: "knowledge-invalid" });
  });

  it("hands its loader the signal, and its error on", async () => {
    const error = new Error("down");
    await expect(
      loading((context) => {
        expect(context.signal).toBe(signal);
        throw error;
      }),
    ).rejects.toBe(error);
  });

  it("is told what is wrong when it is defined", () => {
    expect(() => knowledge({ name: "my faq", description: "", load: () => "" })).toThrow("my faq");
    expect(() => knowledge({ name: "faq", description: "", load: "text" as never })).toThrow(
      'Knowledge "faq": `load` must be a function',
    );
  });

  it("is told from other tools, and from knowledge that wants arguments", () => {
    const inputSchema = { type: "object", properties: { a: { type: "string" } } } as const;
    const other = tool({ name: "x", description: "", inputSchema, execute: () => 1 });
    expect(isKnowledge(other)).toBe(false);
    expect(isKnowledge({ ...other, kind: "knowledge" })).toBe(false);
    expect(isKnowledge(knowledge({ name: "x", description: "", load: () => 1 }))).toBe(true);
  });
});
