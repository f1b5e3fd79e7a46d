import { expect, it } from "vitest";
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
