import { expect, it } from "vitest";
import { z } from "zod";
import type { SchemaSource } from "../../../src/schema/to-schema.ts";
import { tool } from "../../../src/tool/tool.ts";

it("shows a schema that leaves out its type as that of an object, since arguments are one", async () => {
  const open = tool({
    name: "open",
    description: "",
    inputSchema: { properties: { a: { type: "string" } } },
    execute: () => 1,
  });
  expect(open.input.jsonSchema).toEqual({ type: "object", properties: { a: { type: "string" } } });
  expect(await open.input.parse({ a: "x" })).toMatchObject({ ok: true });
});

it("takes nothing but an object for such a schema", async () => {
  const sources: readonly SchemaSource[] = [{}, { properties: { a: { type: "string" } } }, z.unknown()];
  for (const inputSchema of sources) {
    const { input } = tool({ name: "open", description: "", inputSchema, execute: () => 1 });
    for (const value of [[1, 2], 5, true, null, undefined, "x", () => 1])
      expect([value, await input.parse(value)]).toMatchObject([value, { ok: false }]);
    expect(await input.parse('{"a": "x"}')).toMatchObject({ ok: true, value: { a: "x" } });
    expect(await input.parse({ a: "x" })).toEqual({ ok: true, value: { a: "x" } });
  }
});
