import { describe, expect, it } from "vitest";
import { agent, allow, policy } from "../../../../src/index.ts";
import { placesOf } from "../../../../src/eval/prove/schema-places.ts";
import { fakeTool, prove } from "../../../../src/testing.ts";
import type { JsonObject } from "../../../../src/util/json.ts";

const text = { type: "string" } as const;
const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
});
const ada = { enum: ["ada"] } as const;
const whom = closed({ to: text });
const tree = closed({ to: text, sub: { type: "array", items: { $ref: "#/$defs/tree" } } });

/** Schemas by which a model can write a value of its own at the path. */
const open: readonly (readonly [what: string, schema: JsonObject, path: string])[] = [
  ["fields", whom, "to"],
  ["fields beside alternatives", closed({ to: text, cc: text }, { anyOf: [{ required: ["to"] }] }), "to"],
  [
    "fields beside allOf",
    { type: "object", properties: { to: text }, allOf: [{ properties: { cc: text } }] },
    "to",
  ],
  ["fields in allOf", { type: "object", allOf: [{ properties: { to: text } }] }, "to"],
  ["a reference", closed({ mail: { $ref: "#/$defs/whom" } }, { $defs: { whom } }), "mail.to"],
  ["a reference for all", { type: "object", $ref: "#/$defs/whom", $defs: { whom } }, "to"],
  ["a reference to itself", closed({ mail: { $ref: "#/$defs/tree" } }, { $defs: { tree } }), "mail.sub.to"],
  ["else", { type: "object", if: { required: ["cc"] }, else: { properties: { to: text } } }, "to"],
  ["a choice or any text", closed({ to: { anyOf: [{ enum: ["ada"] }, text] } }), "to"],
  ["a text in the place of an object", closed({ mail: { ...whom, type: ["object", "string"] } }), "mail"],
  [
    "what stands behind the entries with a place",
    closed({ to: { type: "array", prefixItems: [ada] } }),
    "to",
  ],
  ["a list that has to hold one value", closed({ to: { type: "array", contains: ada } }), "to"],
  ["an object in the place of a list", closed({ to: { type: ["array", "object"], items: ada } }), "to"],
  ["a list in the place of an object", closed({ to: { ...closed({}), type: ["object", "array"] } }), "to"],
  ["no type", closed({ mail: { properties: { to: text } } }), "mail"],
];

describe("the places where a model writes a value of its own", () => {
  it.each(open)(
    "are those of %s: what passes there is not proved to stay out",
    async (_what, schema, path) => {
      const send = fakeTool("send", "sent", { effect: "irreversible", inputSchema: schema });
      const read = fakeTool("read", "", { effect: "read", inputSchema: closed({}) });
      const rules = [allow("send"), allow("read")];
      const clerk = agent({
        name: "clerk",
        model: () => "",
        tools: [read, send],
        policy: policy({ name: "open", rules }),
      });
      const { sentences } = await prove(clerk, {
        sentences: [{ type: "given", tools: ["send"], arguments: [path], after: ["read"] }],
      });
      expect(sentences.map(({ verdict }) => verdict)).toEqual(["broken"]);
    },
  );

  it("are none that a schema lists, nor others than those of a closed object", () => {
    const pathsOf = (inputSchema: JsonObject): readonly string[] => [
      ...new Set(placesOf(fakeTool("send", "sent", { inputSchema })).map(({ path }) => path)),
    ];
    expect(pathsOf(closed({ to: { enum: ["ada", "bea"] }, urgent: { type: "boolean" } }))).toEqual([]);
    const list = (more: JsonObject): JsonObject =>
      closed({ to: { type: "array", prefixItems: [ada], ...more } });
    const ends: readonly JsonObject[] = [
      { items: false },
      { items: ada },
      { maxItems: 1 },
      { unevaluatedItems: false },
    ];
    for (const end of ends) expect(pathsOf(list(end))).toEqual([]);
    expect(pathsOf(closed({ to: text }, { anyOf: [{ properties: { bcc: text } }] }))).toEqual(["to"]);
    expect(pathsOf({ type: "object", properties: { to: text } })).toEqual(["to", "another_argument"]);
  });
});
