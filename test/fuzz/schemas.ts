import { z } from "zod";
import { tool, type Tool } from "../../src/tool/tool.ts";
import type { JsonSchema } from "../../src/schema/schema.ts";
import { chosen, foreign } from "./hostile.ts";
import type { SchemaName } from "./scene.ts";

/** What a tool's arguments are, and whether given ones may reach it: said once more, by hand. */
interface SchemaAbout {
  readonly source: JsonSchema | z.ZodType;
  readonly takes: (args: unknown) => boolean;
  /** Arguments that fit, made of two numbers. */
  readonly fit: (first: number, second: number) => unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasOnly = (value: Fields, ...names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));
const own = (value: Fields, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);
const isText = (value: unknown): value is string => typeof value === "string";

const values = [...chosen, ...foreign];
const pick = (index: number): string => values[index % values.length] ?? "";

export const schemas: Readonly<Record<SchemaName, SchemaAbout>> = {
  mail: {
    source: {
      type: "object",
      properties: { to: { type: "string" }, body: { type: "string" } },
      required: ["to"],
      additionalProperties: false,
    },
    takes: (args) =>
      isFields(args) &&
      hasOnly(args, "to", "body") &&
      isText(own(args, "to")) &&
      (own(args, "body") === undefined || isText(own(args, "body"))),
    fit: (first, second) => ({ to: pick(first), body: `hello ${pick(second)}` }),
  },
  pay: {
    source: {
      type: "object",
      properties: {
        amount: { type: "integer", minimum: 0, maximum: 100 },
        iban: { type: "string", pattern: "^[A-Z0-9]+$", maxLength: 34 },
      },
      required: ["amount", "iban"],
      additionalProperties: false,
    },
    takes(args) {
      if (!isFields(args) || !hasOnly(args, "amount", "iban")) return false;
      const amount = own(args, "amount");
      const iban = own(args, "iban");
      return (
        Number.isInteger(amount) &&
        Number(amount) >= 0 &&
        Number(amount) <= 100 &&
        isText(iban) &&
        /^[A-Z0-9]{1,34}$/.test(iban)
      );
    },
    // Sometimes as a text, which is read as the number that it is.
    fit: (first, second) => ({ amount: first % 2 === 0 ? 40 : "99", iban: pick(second % 2 === 0 ? 1 : 5) }),
  },
  any: {
    source: { type: "object", properties: {}, additionalProperties: true },
    takes: isFields,
    fit: (first, second) => ({ to: pick(first), other: [pick(second)] }),
  },
  flag: {
    source: {
      type: "object",
      properties: { on: { type: "boolean" }, mode: { enum: ["a", "b"] } },
      required: ["on"],
      additionalProperties: false,
    },
    takes(args) {
      if (!isFields(args) || !hasOnly(args, "on", "mode")) return false;
      const mode = own(args, "mode");
      return typeof own(args, "on") === "boolean" && (mode === undefined || mode === "a" || mode === "b");
    },
    fit: (first, second) => ({
      on: first % 3 === 0 ? "true" : true,
      ...(second % 2 === 0 ? { mode: "a" } : {}),
    }),
  },
  list: {
    source: {
      type: "object",
      properties: { ids: { type: "array", items: { type: "integer" }, maxItems: 3 } },
      required: ["ids"],
      additionalProperties: false,
    },
    takes(args) {
      const ids = isFields(args) && hasOnly(args, "ids") ? own(args, "ids") : undefined;
      return Array.isArray(ids) && ids.length <= 3 && ids.every(Number.isInteger);
    },
    fit: (first, second) => ({ ids: [first, second] }),
  },
  zod: {
    source: z.object({ name: z.string().max(30), n: z.number().default(1) }),
    takes(args) {
      if (!isFields(args) || !hasOnly(args, "name", "n")) return false;
      const name = own(args, "name");
      return isText(name) && name.length <= 30 && typeof own(args, "n") === "number";
    },
    fit: (first, second) => ({ name: pick(first), ...(second % 2 === 0 ? { n: second } : {}) }),
  },
  slow: {
    source: { type: "object", properties: { s: { type: "string", pattern: "^(a+)+$" } }, required: ["s"] },
    takes(args) {
      const text = isFields(args) ? own(args, "s") : undefined;
      return isText(text) && /^a+$/.test(text);
    },
    fit: (first, second) => ({ s: `${"a".repeat(first * 8)}${second % 2 === 0 ? "" : "!"}` }),
  },
};

/** A schema is compiled once for all scenes. */
const compiled = new Map<SchemaName, Tool>();

export function toolOf(schema: SchemaName): Tool {
  let made = compiled.get(schema);
  if (made === undefined) {
    const { source } = schemas[schema];
    made = tool({
      name: schema,
      description: `takes ${schema}`,
      inputSchema: source as JsonSchema,
      execute: () => null,
    });
    compiled.set(schema, made);
  }
  return made;
}
