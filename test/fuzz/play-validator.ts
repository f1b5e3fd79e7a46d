import fc from "fast-check";
import { isWritError } from "../../src/error/writ-error.ts";
import { describeIssues, type JsonSchema, type Schema } from "../../src/schema/schema.ts";
import { toSchema } from "../../src/schema/to-schema.ts";
import { Work } from "../../src/schema/visit.ts";
import type { Json } from "../../src/util/json.ts";
import { cpuMsUntil } from "../cpu-time.ts";
import type { Faults } from "./checks.ts";
import { shown } from "./play-agent.ts";

/** A schema of a stranger, and a value of another one: together they cost as much as they can. */
export interface ValidatorScene {
  readonly schema: JsonSchema;
  readonly value: Json;
  readonly role: "input" | "output";
}

const patterns = [
  "^(a+)+$",
  "(a|aa)*b",
  "[ab]{0,900}[ac]{0,900}$",
  "^(?!x)(?=.*y).*z$",
  ".*.*.*=.*",
  "(x?){300}x{300}",
  "^k\\d+$",
  "",
];
const texts = [
  "",
  "x",
  "x1",
  "k7",
  "a".repeat(3000),
  `${"a".repeat(200)}!`,
  "1",
  "true",
  "[1,[2]]",
  '{"a":{}}',
];

/** The most characters of a value: more of them are allowed more time. */
const maxValue = 32_000;
/** That of a schema, as of the tools of servers. */
const maxSchema = 40_000;

/** True for JSON of at most so many characters. Parts stand in it often, so that all of it can be endless. */
function fitsInto(most: number, json: Json): boolean {
  let left = most;
  const take = (part: Json): boolean => {
    left -= 2;
    if (typeof part === "string") left -= part.length;
    if (typeof part !== "object" || part === null) return left >= 0;
    for (const [name, inside] of Object.entries(part)) {
      left -= Array.isArray(part) ? 0 : name.length;
      if (left < 0 || !take(inside)) return false;
    }
    return left >= 0;
  };
  return take(json);
}

const leaf: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(...texts, null, true, 0, -1, 1e300, 2 ** 53),
  fc.nat(9),
);

/** Lists, objects and texts whose size is told by one number, so that a large one is made small by fast-check too. */
const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc
      .tuple(size(), tie("value"), fc.boolean())
      .map(([count, entry, differ]): Json => many(count, (index) => (differ ? { k: index, entry } : entry))),
    fc
      .tuple(size(), tie("value"))
      .map(([count, field]): Json => Object.fromEntries(many(count, (index) => [`k${index}`, field]))),
    fc.tuple(fc.nat(40), tie("value")).map(([depth, inner]) => nested(depth, inner)),
    size().map((length) => "ab".repeat(length)),
  ),
})).value;

function size(): fc.Arbitrary<number> {
  return fc.oneof(fc.nat(3), fc.constantFrom(30, 300, 4000, 20_000));
}

function many<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const nested = (depth: number, inner: Json): Json => (depth === 0 ? inner : { a: nested(depth - 1, inner) });

/** Schemas with every keyword that multiplies, many times over, and with ways back to the beginning. */
const schemas: fc.Arbitrary<JsonSchema> = fc.letrec<{ schema: JsonSchema; any: Json }>((tie) => {
  const one = tie("any");
  const copies = fc
    .tuple(fc.constantFrom(1, 2, 30, 400), one)
    .map(([count, schema]) => many(count, (index) => (index % 2 === 0 ? schema : { const: `x${index}` })));
  const named = fc
    .tuple(fc.constantFrom(1, 30, 400), one)
    .map(([count, schema]) => Object.fromEntries(many(count, (index) => [`k${index}`, schema])));
  const keyword = fc.oneof(
    fc.record({ anyOf: copies }),
    fc.record({ oneOf: copies }),
    fc.record({ allOf: copies }),
    fc.record({ not: one }),
    fc.tuple(one, one).map(([first, second]) =>
      Object.fromEntries([
        ["if", first],
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        ["then", second],
        ["else", first],
      ]),
    ),
    fc.record({ items: one, prefixItems: copies }),
    fc.record({ items: one }),
    fc.record({ contains: one, minContains: fc.constantFrom(0, 2, 1e6) }),
    fc.record({ properties: named, additionalProperties: one }),
    fc.record({ properties: named, unevaluatedProperties: one, anyOf: copies }),
    fc.record({ unevaluatedItems: one, contains: one }),
    fc.record({ dependentSchemas: named }),
    fc.record({ propertyNames: one, maxProperties: fc.nat(20_000) }),
    fc.record({
      patternProperties: one.map((each) => Object.fromEntries(patterns.map((name) => [name, each]))),
    }),
    fc.record({ uniqueItems: fc.constant(true), minItems: fc.nat(3) }),
    fc.record({
      enum: fc.oneof(fc.array(values, { minLength: 1, maxLength: 2 }), fc.constant(many(500, String))),
    }),
    fc.record({ required: fc.constant(many(400, (index) => `k${index}`)) }),
    fc.record({ type: fc.constantFrom("string", "object", "array", "integer", "boolean") }),
    fc.record({ pattern: fc.constantFrom(...patterns), minLength: fc.nat(4) }),
    fc.record({ properties: fc.constant({ a: { default: many(200, String) }, k: { default: {} } }) }),
    fc.constantFrom<JsonSchema>({ $ref: "#" }, { $ref: "#/$defs/a" }, { $dynamicRef: "#" }),
  ) as fc.Arbitrary<JsonSchema>;
  const schema = fc
    .array(keyword, { minLength: 1, maxLength: 3 })
    .map((parts) => Object.assign({}, ...parts) as JsonSchema);
  return {
    schema,
    any: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<Json>(true, { type: "integer" }, { $ref: "#" }),
      schema,
    ),
  };
}).schema;

export const validatorScene: fc.Arbitrary<ValidatorScene> = fc.record({
  schema: fc
    .tuple(schemas, schemas)
    .map(([schema, inner]) => ({ ...schema, $defs: { a: inner } }))
    .filter((schema) => fitsInto(maxSchema, schema)),
  value: values.filter((value) => fitsInto(maxValue, value)),
  role: fc.constantFrom("input", "output"),
});

/** What `npm run fuzz` holds each call to, in milliseconds of this thread. Elsewhere the steps alone are counted: other work on the machine is no fault. */
export const slowest = { ms: Infinity };

export async function playValidator({ schema, value, role }: ValidatorScene): Promise<Faults> {
  const faults: Faults = [];
  const made = make(schema, role, faults);
  if (made === undefined) return faults;
  await made.parse(null); // the engine of patterns is loaded with the first value
  const allowed = 500_000 + 10 * JSON.stringify(value).length;
  let steps = 0;
  const parse = async (): Promise<void> => {
    const counting = countSteps((step) => (steps += step));
    try {
      const result = await made.parse(value);
      if (!result.ok && describeIssues(result.issues).length > 20_000) faults.push("the issues are endless");
    } catch (error) {
      faults.push(`parsing threw ${shown(error)}`);
    } finally {
      counting.end();
    }
  };
  await parse();
  if (steps > allowed) faults.push(`${steps} steps, and ${allowed} are allowed`);
  const ms = slowest.ms === Infinity ? 0 : await cpuMsUntil(slowest.ms, parse);
  if (ms > slowest.ms) faults.push(`a call took ${Math.round(ms)} ms`);
  return faults;
}

function make(schema: JsonSchema, role: ValidatorScene["role"], faults: Faults): Schema | undefined {
  try {
    return toSchema(schema, { name: "t", role });
  } catch (error) {
    if (!isWritError(error, "schema-invalid")) faults.push(`reading a schema threw ${shown(error)}`);
    return undefined;
  }
}

/** Counts the steps that were allowed: what is refused was not done. */
function countSteps(told: (steps: number) => void): { readonly end: () => void } {
  // oxlint-disable-next-line typescript/unbound-method -- put back as it was, and called on its own object
  const { take } = Work.prototype;
  Work.prototype.take = function counted(this: Work, steps) {
    const isAllowed = take.call(this, steps);
    if (isAllowed) told(steps);
    return isAllowed;
  };
  return { end: () => void (Work.prototype.take = take) };
}
