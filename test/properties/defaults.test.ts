import { expect, it } from "vitest";
import { guarded, tool } from "../../src/index.ts";
import type { CallRequest } from "../../src/policy/decision.ts";
import { namesIn } from "../../src/schema/property-names.ts";
import { defaultsOf, type IsDefault } from "../../src/tool/default-values.ts";
import { caseRequest } from "../../src/policy/study/test-policy.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/util/json.ts";
import { sameJson } from "../../src/util/same-json.ts";
import { randomFrom } from "../random.ts";

/** How many cases: `WRIT_DEFAULT_CASES=1000000` tries more. */
const cases = Number(process.env["WRIT_DEFAULT_CASES"] ?? 3000);
const random = randomFrom(Number(process.env["WRIT_DEFAULT_SEED"] ?? 11));
const below = (end: number): number => Math.floor(random() * end);
const one = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;

/** Few values, so that a written one is often the default, of this place or of another. */
const words = ["ada", "eve", "normal"];
const names = ["a", "b", "c"];

/** A schema of a value, with a default now and then. */
function schema(depth: number): JsonObject {
  const kind = depth === 0 ? 0 : below(4);
  const plain = kind === 2 ? list(depth) : kind === 3 ? object(depth) : { type: "string" };
  return random() < 0.5 ? plain : { ...plain, default: value(plain) };
}

const list = (depth: number): JsonObject => ({ type: "array", items: schema(depth - 1) });

function object(depth: number): JsonObject {
  const own = names.filter(() => random() < 0.7);
  const properties = Object.fromEntries(own.map((name) => [name, schema(depth - 1)]));
  return {
    type: "object",
    properties,
    required: own.filter(() => random() < 0.5),
    additionalProperties: false,
  };
}

/** A value that a model may write for a schema: fields that have a default, or need not be there, are left out now and then. */
function value(of: JsonObject): Json {
  if (of["default"] !== undefined && random() < 0.4) return of["default"];
  if (of["type"] === "array") return Array.from({ length: below(3) }, () => value(of["items"] as JsonObject));
  if (of["type"] !== "object") return one(words);
  const needed = of["required"] as string[];
  const fields = Object.entries(of["properties"] as Record<string, JsonObject>);
  return Object.fromEntries(
    fields.flatMap(([name, part]) =>
      random() < 0.4 && (part["default"] !== undefined || !needed.includes(name))
        ? []
        : [[name, value(part)]],
    ),
  );
}

/** What was written, or the arguments themselves, without what counts as a default in the arguments. */
function without(written: Json, args: Json | undefined, isDefault: IsDefault): Json {
  if (Array.isArray(written) && Array.isArray(args)) {
    const given: readonly Json[] = args;
    return written.map((each: Json, place) => without(each, given[place], isDefault));
  }
  if (!isJsonObject(written) || !isJsonObject(args)) return written;
  const left = Object.entries(written).filter(([name]) => !isDefault(args, name));
  return Object.fromEntries(left.map(([name, each]) => [name, without(each, args[name], isDefault)]));
}

it("says no more of a call than its absence: without the defaults it is the same call, and judged the same", () => {
  let found = 0;
  for (let place = 0; place < cases; place += 1) {
    const inputSchema = object(3);
    const made = tool({ name: "act", description: "", inputSchema, effect: "write", execute: () => "" });
    const proposed = value(inputSchema);
    const parsed = made.input.parse(proposed) as { readonly ok: boolean; readonly value: JsonObject };
    if (!parsed.ok) continue;
    const args = parsed.value;
    const defaultsIn = defaultsOf(made, proposed);
    const isDefault = defaultsIn?.(args) ?? (() => false);
    const left = without(args, args, isDefault);
    if (!sameJson(left, args)) found += 1;
    const again = made.input.parse(without(proposed, args, isDefault)) as {
      readonly ok: boolean;
      readonly value: JsonObject;
    };
    const context = JSON.stringify({ inputSchema, proposed, args, left });
    expect(again.ok && sameJson(again.value, args), context).toBe(true);
    const request = (given: Json, more: Partial<CallRequest> = {}): CallRequest => ({
      ...caseRequest(
        { tool: "act", arguments: given, effect: "write", intent: 'Tell "ada"', untrusted: true },
        [],
      ),
      ...namesIn(made.input.jsonSchema),
      ...more,
    });
    const judge = guarded();
    expect(judge(request(args, { defaultsIn })).verdict, context).toBe(judge(request(left)).verdict);
  }
  expect(found).toBeGreaterThan(cases / 10);
});
