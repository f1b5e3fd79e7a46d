import { describe, expect, it } from "vitest";
import { grammarOf } from "../../../src/driver/grammar.ts";
import { protocolGrammar, protocolSchema } from "../../../src/driver/json-protocol.ts";
import { tool } from "../../../src/index.ts";
import { allowList } from "../../../src/policy/allow-list.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";
import type { JsonObject } from "../../../src/util/json.ts";

const root = (schema: JsonObject): string => grammarOf(schema).split("\n")[0] ?? "";

describe("grammar", () => {
  it("lets optional properties be left out, and writes what is required but not described", () => {
    expect(
      root({
        type: "object",
        properties: { a: { type: "number" }, b: { type: "string" } },
        required: ["a", "c"],
        additionalProperties: false,
      }),
    ).toMatch(/^root ::= "\{" "\\"a\\"" ":" number "," "\\"c\\"" ":" value \("," r\d+\)\? "\}"$/);
  });

  it("writes tuples, merges what stands beside a reference, and comes back to itself", () => {
    expect(root({ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false })).toBe(
      'root ::= "[" string "," number "]"',
    );
    const beside = grammarOf({
      $defs: { a: { type: "object", properties: { x: { type: "string" } }, required: ["x"] } },
      $ref: "#/$defs/a",
      properties: { y: { type: "number" } },
      required: ["y"],
    });
    expect(beside).toContain('"\\"x\\"" ":" string');
    expect(beside).toContain('"\\"y\\"" ":" number');
    const tree = grammarOf({
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#" } } },
      required: ["children"],
      additionalProperties: false,
    });
    expect(tree.split("\n").filter((line) => line.startsWith("ref"))).toHaveLength(1);
  });

  it("can write every double", () => {
    const [, fraction] = /"\." \[0-9\]\{1,(\d+)\}/.exec(grammarOf({ type: "number" })) ?? [];
    expect(Number(fraction)).toBeGreaterThanOrEqual(String(0.1 + 0.2).length - 2);
  });

  it("keeps the references of a tool inside that tool, in the grammar and in the schema", async () => {
    const tree = tool({
      name: "tree",
      description: "",
      inputSchema: {
        type: "object",
        properties: { value: { $ref: "#/$defs/value" }, children: { type: "array", items: { $ref: "#" } } },
        required: ["value"],
        additionalProperties: false,
        $defs: { value: { type: "number" } },
      },
      execute: () => 1,
    });
    const allowed = allowList("s", [tree]);
    const tools = [...allowed.tools.values()];
    const schema = toSchema(protocolSchema({ tools, mayAnswer: true }), {
      name: "protocol",
      role: "input",
      coerce: "none",
    });
    const action = (args: unknown): unknown => ({ action: { tool: "tree", args } });
    expect(await schema.parse(action({ value: 1, children: [{ value: 2 }] }))).toMatchObject({ ok: true });
    expect(await schema.parse(action({ value: 1, children: [{ value: "2" }] }))).toMatchObject({ ok: false });
    expect(await schema.parse({ final: { content: [1] } })).toMatchObject({ ok: true });
    const nested = protocolGrammar({ tools, mayAnswer: true })
      .split("\n")
      .filter((line) => line.startsWith("ref"));
    expect(nested.join("\n")).not.toContain("final");
    expect(protocolGrammar({ tools: [], mayAnswer: true }).split("\n")[0]).not.toContain("tree");
  });
});
