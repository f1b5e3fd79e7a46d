import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { RE2JS } from "re2js";
import { messageOf, WritError } from "../error/writ-error.ts";
import { isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { kindOf } from "../util/shape.ts";
import { applicators } from "./applicators.ts";
import { assertions } from "./assertions.ts";
import { type CheckedSchema, checkSchema, copyJson } from "./check-schema.ts";
import { coerce } from "./coerce.ts";
import { fillDefaults, relaxRequired } from "./fill-defaults.ts";
import type { Making, Matcher } from "./maker.ts";
import { matchersOf } from "./matcher.ts";
import type { Issue, JsonSchema, ParseResult, Schema } from "./schema.ts";
import { type CheckedSource, fromStandard, type SchemaPlace, type StandardPlace } from "./standard.ts";
import { type Check, Marks, Visit, Work } from "./visit.ts";

/**
 * A schema as an author gives it: any Standard Schema that describes itself as JSON Schema, or a JSON Schema
 * 2020-12 object.
 *
 * @example
 * ```ts
 * import type { SchemaSource } from "writ/tools";
 * import { z } from "zod";
 *
 * export const sources: readonly SchemaSource[] = [
 *   z.object({ city: z.string() }),
 *   { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 * ];
 * ```
 */
export type SchemaSource = StandardSchemaV1 | JsonSchema;

/**
 * The type of a parsed value. A JSON Schema says nothing to TypeScript: unknown.
 *
 * @example
 * ```ts
 * import type { InferOutput } from "writ/tools";
 * import { z } from "zod";
 *
 * const place = z.object({ city: z.string(), days: z.int().default(3) });
 * export const here: InferOutput<typeof place> = { city: "Oslo", days: 3 };
 * ```
 */
export type InferOutput<Source extends SchemaSource> = Source extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Source>
  : unknown;

/**
 * The type of a value that may be parsed. A JSON Schema says nothing to TypeScript: unknown.
 *
 * @example
 * ```ts
 * import type { InferInput } from "writ/tools";
 * import { z } from "zod";
 *
 * const place = z.object({ city: z.string(), days: z.int().default(3) });
 * export const asked: InferInput<typeof place> = { city: "Oslo" };
 * ```
 */
export type InferInput<Source extends SchemaSource> = Source extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Source>
  : unknown;

/** The owner of a schema, and the strictness with which it is taken. */
export interface SchemaOptions extends StandardPlace {
  /** `safe` changes the form of values that do not fit, without loss. Default: `safe` for input, `none` for output. */
  readonly coerce?: "safe" | "none";
  /** Refuses a misspelt keyword of a JSON Schema, which its author can correct. Default: it judges nothing, as the standard says. */
  readonly refusesSlips?: boolean;
}

// Text in a list in text in an object: deeper wrappings are no longer slips.
const maxCoercions = 4;
const maxIssues = 10;
// A list of a million wrong entries has a million issues.
const maxIssuesRead = 1000;

/**
 * Makes the one {@link Schema} that the runtime works with.
 *
 * The schema that the model is shown: of a Standard Schema, what the library says of the wanted role, where
 * the top-level object admits no further properties unless the author said so; of a JSON Schema, a copy of
 * it, where properties with a default are not required (input only).
 *
 * `parse` is synchronous when the library is. For a JSON Schema with patterns it returns a promise until their engine is loaded, which
 * happens once a process; all else is synchronous. References to other documents are refused; regular expressions run in linear time; a
 * value that takes more than half a million steps to judge, and eight more for each of its characters, does not fit.
 *
 * @throws WritError `schema-invalid`, `schema-without-json-schema`
 */
export function toSchema<const Source extends SchemaSource>(
  source: Source,
  options: SchemaOptions,
): Schema<InferOutput<Source>> {
  const { jsonSchema, guide, check } = checkedSource(source, options);
  const coerces = (options.coerce ?? (options.role === "input" ? "safe" : "none")) === "safe";
  const finish = (result: ParseResult<unknown>, attempt: Attempt): Awaitable<ParseResult<unknown>> => {
    if (result.ok) return attempt.coerced.length === 0 ? result : { ...result, coerced: attempt.coerced };
    const issues = result.issues.slice(0, maxIssuesRead);
    const coercion =
      coerces && attempt.count < maxCoercions
        ? coerce(attempt.value, issues, { ...guide, work: attempt.work })
        : undefined;
    if (coercion === undefined) return { ok: false, issues: shortened(result.issues) };
    const coerced = [...new Set([...attempt.coerced, ...coercion.paths])];
    return next({ ...attempt, value: coercion.value, count: attempt.count + 1, coerced });
  };
  const next = (attempt: Attempt): Awaitable<ParseResult<unknown>> => {
    const result = check(attempt.value, attempt.work);
    return result instanceof Promise
      ? result.then((settled) => finish(settled, attempt))
      : finish(result, attempt);
  };
  const parse = (value: unknown): Awaitable<ParseResult<unknown>> =>
    next({ value, count: 0, coerced: [], work: new Work(value) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a source makes of values only its type says
  return { jsonSchema, parse } as Schema<InferOutput<Source>>;
}

type Awaitable<Value> = Value | Promise<Value>;

interface Attempt {
  readonly value: unknown;
  readonly count: number;
  readonly coerced: readonly string[];
  /** One for all attempts. */
  readonly work: Work;
}

function checkedSource(source: unknown, options: SchemaOptions): CheckedSource {
  const { name, role, refusesUnknown, refusesSlips = false } = options;
  const place: SchemaPlace = { name, role };
  if (isStandard(source)) return fromStandard(source, { ...place, refusesUnknown });
  if (isJsonObject(source) && !(source instanceof Promise))
    return fromJsonSchema(source, place, refusesSlips);
  const found = source === undefined ? "missing" : kindOf(source);
  throw new WritError("schema-invalid", { ...place, reason: `it is ${found}.` });
}

function isStandard(source: unknown): source is StandardSchemaV1 {
  return (
    (typeof source === "object" || typeof source === "function") && source !== null && "~standard" in source
  );
}

function shortened(issues: readonly Issue[]): readonly Issue[] {
  const rest = issues.length - maxIssues;
  return rest <= 0 ? issues : [...issues.slice(0, maxIssues), { path: [], message: `and ${rest} more` }];
}

/** Reads a JSON Schema 2020-12. The engine for patterns is loaded by the first check that needs it. @throws WritError `schema-invalid` */
function fromJsonSchema(source: JsonSchema, place: SchemaPlace, refusesSlips: boolean): CheckedSource {
  try {
    const root = copyOf(source);
    const checked = checkSchema(root);
    if (refusesSlips && checked.slip !== undefined) throw new TypeError(checked.slip);
    const shown = copyOf(root);
    if (place.role === "input" && checked.keywords.has("default")) relaxRequired(checkSchema(shown));
    const { $schema: _, ...jsonSchema } = shown;
    const endsOf = (schema: JsonObject): readonly Json[] => checked.targets.get(schema) ?? [];
    return { jsonSchema, guide: { schema: root, endsOf }, check: checkWith(checked) };
  } catch (error) {
    throw new WritError("schema-invalid", { ...place, reason: messageOf(error) }, { cause: error });
  }
}

function copyOf(source: JsonSchema): JsonObject {
  const copy = copyJson(source);
  if (!isJsonObject(copy)) throw new TypeError("it is not an object.");
  return copy;
}

// Depends on: nothing; modules are the same for all. Loaded with the first schema that has patterns. Kept here, since only who keeps a lazily loaded module can use it without waiting.
let engine: typeof RE2JS | undefined;

async function loadEngine(): Promise<void> {
  engine = (await import("re2js")).RE2JS;
}

/** The check of a schema. Patterns that cannot be had throw with each value, and are looked at once. */
function judgeOf(checked: CheckedSchema): Check {
  try {
    return judgeOfRoot(checked, engine === undefined ? withoutEngine : matchersOf(engine));
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function withoutEngine(): never {
  throw new TypeError("the engine for patterns is not loaded");
}

function checkWith(checked: CheckedSchema): CheckedSource["check"] {
  const hasDefaults = checked.keywords.has("default");
  const hasPatterns = checked.keywords.has("pattern") || checked.keywords.has("patternProperties");
  let judge: Check | undefined;
  const run = (value: unknown, work: Work): ParseResult<unknown> => {
    try {
      judge ??= judgeOf(checked);
      const filled = hasDefaults ? fillDefaults(checked, value, work) : value;
      const deciding = new Visit(work);
      return judge(filled, deciding)
        ? { ok: true, value: filled }
        : { ok: false, issues: explain(judge, filled, deciding) };
    } catch (error) {
      return failed(error);
    }
  };
  return (value, work) =>
    hasPatterns && engine === undefined
      ? loadEngine().then(() => run(value, work), failed)
      : run(value, work);
}

/** The faults of a value that does not fit, as far as there is work left to find them. */
function explain(judge: Check, value: unknown, deciding: Visit): readonly Issue[] {
  const explaining = new Visit(deciding.work, deciding);
  try {
    judge(value, explaining);
    return explaining.issues;
  } catch (error) {
    const { issues } = explaining;
    return issues.length > 0 ? issues : [{ path: [], message: `does not fit; ${messageOf(error)}` }];
  }
}

function failed(error: unknown): ParseResult<unknown> {
  return { ok: false, issues: [{ path: [], message: `cannot be checked: ${messageOf(error)}` }] };
}

const keywords = [...assertions, ...applicators];

const fitsAll: Check = () => true;
const fitsNone: Check = (_value, visit) => visit.fault(() => "is not allowed");

/**
 * The check of a schema. It throws a RangeError when a value takes more steps than a visit may make, or is nested deeper than the
 * stack.
 */
function judgeOfRoot({ root, targets }: CheckedSchema, matcherOf: (pattern: string) => Matcher): Check {
  const made = new Map<JsonObject, Check>();
  const judgeOf = (schema: Json): Check => {
    if (!isJsonObject(schema)) return schema === true ? fitsAll : fitsNone;
    const check =
      made.get(schema) ?? judgeOfSchema({ schema, judgeOf, ends: targets.get(schema) ?? [], matcherOf });
    made.set(schema, check);
    return check;
  };
  return judgeOf(root);
}

function judgeOfSchema(making: Making): Check {
  const { schema } = making;
  const checks = keywords.flatMap(([keyword, maker]) => {
    const held = own(schema, keyword);
    return held === undefined ? [] : [maker(held, making)];
  });
  const needsMarks = ["unevaluatedItems", "unevaluatedProperties"].some((name) =>
    Object.hasOwn(schema, name),
  );
  return (value, visit, outer) => {
    visit.work.spend(1);
    const marks = needsMarks ? new Marks(visit.work) : outer;
    let fits = true;
    for (const check of checks) {
      if (check(value, visit, marks)) continue;
      if (!visit.explains) return false;
      fits = false;
    }
    if (outer !== undefined && marks !== undefined && marks !== outer) outer.add(marks, visit.work);
    return fits;
  };
}
