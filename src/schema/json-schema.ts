import type { RE2JS } from "re2js";
import { messageOf, WritError } from "../error/writ-error.ts";
import { isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { type CheckedSchema, checkSchema, copyJson } from "./check-schema.ts";
import { fillDefaults, relaxRequired } from "./fill-defaults.ts";
import { matchersOf } from "./matcher.ts";
import type { Issue, JsonSchema, ParseResult } from "./schema.ts";
import type { CheckedSource, SchemaPlace } from "./standard.ts";
import { type Check, Visit, type Work, Marks } from "./visit.ts";
import { applicators } from "./applicators.ts";
import { assertions } from "./assertions.ts";
import type { Making, Matcher } from "./maker.ts";

/** Reads a JSON Schema 2020-12. The engine for patterns is loaded by the first check that needs it. @throws WritError `schema-invalid` */
export function fromJsonSchema(source: JsonSchema, place: SchemaPlace): CheckedSource {
  try {
    const root = copyOf(source);
    const checked = checkSchema(root);
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
