import { expect, it } from "vitest";
import { randomFrom } from "../../../../src/eval/simulate/draw.ts";
import { valueOf } from "../../../../src/eval/simulate/propose.ts";
import type { JsonObject } from "../../../../src/util/json.ts";

const x = { type: "string", pattern: "^x+$" };
const endless = {
  type: "object",
  properties: { next: { $ref: "#/$defs/endless" } },
  required: ["next"],
};

it.each<[string, JsonObject]>([
  ["goes too deep", { $ref: "#/$defs/endless", $defs: { endless } }],
  ["names nothing", { type: "object", properties: { t: { $ref: "#/nowhere" } }, required: ["t"] }],
])("draws some value where the grammar of a schema %s", (_what, schema) => {
  expect(() => valueOf(randomFrom(5), schema, ["a"])).not.toThrow();
});

it("follows a reference inside of alternatives to the definitions of the whole schema", () => {
  const t = { oneOf: [{ $ref: "#/$defs/x" }] };
  const schema = { type: "object", properties: { t }, required: ["t"], $defs: { x } };
  expect(valueOf(randomFrom(5), schema, ["a"])).toEqual({ t: expect.stringMatching(/^x+$/) });
});
