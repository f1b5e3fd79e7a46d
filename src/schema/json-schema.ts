import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import type { RE2JS } from "re2js";
import { messageOf, WritError } from "../error/writ-error.ts";
import { isJsonObject } from "../util/json.ts";
import { issuesFromAjv } from "./ajv-issues.ts";
import { checkSchema, copyJson } from "./check-schema.ts";
import { fillDefaults, relaxRequired } from "./fill-defaults.ts";
import { splitPattern } from "./linear-pattern.ts";
import { type LinkedSchema, linkSchema, stepKeyword } from "./link-schema.ts";
import type { JsonSchema, ParseResult } from "./schema.ts";
import type { CheckedSource, SchemaPlace } from "./standard.ts";

/** Reads a JSON Schema 2020-12. The validator is loaded by the first check of any such schema. @throws WritError `schema-invalid` */
export function fromJsonSchema(source: JsonSchema, place: SchemaPlace): CheckedSource {
  try {
    const root = copyJson(source);
    if (!isJsonObject(root)) throw new TypeError("it is not an object.");
    const checked = checkSchema(root);
    const linked = linkSchema(checked);
    if (place.role === "input") relaxRequired(checked);
    const { $schema: _, ...jsonSchema } = root;
    return { jsonSchema, guide: linked.schema, check: checkWith(linked) };
  } catch (error) {
    throw new WritError("schema-invalid", { ...place, reason: messageOf(error) }, { cause: error });
  }
}

interface Engine {
  readonly Ajv: typeof Ajv2020;
  /** Loaded with the first schema that has patterns. */
  readonly Pattern: typeof RE2JS | undefined;
}

type Validate = (value: unknown) => ParseResult<unknown>;

// A foreign schema whose references meet again and again would judge a small value for years.
const maxSteps = 100_000;

// Depends on: nothing; modules are the same for all. Kept here, since only who keeps a lazily loaded module can use it without waiting.
let loaded: Engine | undefined;

async function load(needsPatterns: boolean): Promise<Engine> {
  const [{ Ajv2020: Ajv }, patterns] = await Promise.all([
    import("ajv/dist/2020.js"),
    needsPatterns ? import("re2js") : undefined,
  ]);
  loaded = { Ajv, Pattern: patterns?.RE2JS ?? loaded?.Pattern };
  return loaded;
}

function checkWith(linked: LinkedSchema): CheckedSource["check"] {
  const needsPatterns = linked.hasPatterns;
  let validate: Validate | undefined;
  const compileOnce = (engine: Engine): Validate => {
    try {
      return compile(linked, engine);
    } catch (error) {
      return () => failed(error);
    }
  };
  return (value) => {
    if (validate === undefined && loaded !== undefined && (!needsPatterns || loaded.Pattern !== undefined)) {
      validate = compileOnce(loaded);
    }
    if (validate !== undefined) return validate(value);
    return load(needsPatterns).then((engine) => (validate ??= compileOnce(engine))(value), failed);
  };
}

function compile({ schema, hasDefaults }: LinkedSchema, { Ajv, Pattern }: Engine): Validate {
  let steps = 0;
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    verbose: true,
    ownProperties: true,
    inlineRefs: false, // a foreign schema that refers to a large part again and again would be compiled for minutes
    meta: false,
    validateSchema: false,
    validateFormats: false,
    logger: false,
    code: {
      regExp: Object.assign((pattern: string) => linearMatcher(pattern, Pattern), { code: "linearMatcher" }),
    },
  });
  ajv.addKeyword({
    keyword: stepKeyword,
    before: "$ref",
    errors: false,
    validate: () => {
      steps += 1;
      if (steps > maxSteps)
        throw new RangeError(`the references of its schema were followed more than ${maxSteps} times`);
      return true;
    },
  });
  const validate: ValidateFunction = ajv.compile(schema);
  return (value) => {
    steps = 0;
    try {
      const filled = hasDefaults ? fillDefaults(schema, value) : value;
      if (validate(filled)) return { ok: true, value: filled };
      return { ok: false, issues: issuesFromAjv(validate.errors ?? [], filled) };
    } catch (error) {
      return failed(error);
    } finally {
      // Errors hold the value: without this it would stay alive until the next check.
      validate.errors = null;
    }
  };
}

/** Matches in time linear in the text. The text form must differ from pattern to pattern: ajv tells matchers apart by it. */
function linearMatcher(
  pattern: string,
  Pattern: Engine["Pattern"],
): { test(text: string): boolean; toString(): string } {
  const parts = splitPattern(pattern);
  if ("fault" in parts) throw new TypeError(`"${pattern}" ${parts.fault}`);
  if (Pattern === undefined) throw new TypeError("the engine for patterns is not loaded");
  const matcherOf = (part: string): RE2JS => Pattern.compile(Pattern.translateRegExp(part));
  const body = matcherOf(parts.body);
  const must = parts.must.map(matcherOf);
  const mustNot = parts.mustNot.map(matcherOf);
  return {
    test: (text) =>
      body.test(text) && must.every((part) => part.test(text)) && !mustNot.some((part) => part.test(text)),
    toString: () => pattern,
  };
}

function failed(error: unknown): ParseResult<unknown> {
  return { ok: false, issues: [{ path: [], message: `cannot be checked: ${messageOf(error)}` }] };
}
