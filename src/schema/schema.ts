import { copyOfPlain, type Json, type JsonObject } from "../util/json.ts";
import { leaveUnheard } from "../util/maybe.ts";
import { plainJson } from "../util/plain-json.ts";
import { sameJson } from "../util/same-json.ts";

/** A JSON Schema 2020-12 object. */
export type JsonSchema = JsonObject;

/** One thing that is wrong with a value, and where: `path` goes from the root of the value. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * The parsed value, or what is wrong with it (the first ten issues). `coerced` tells which paths were changed without loss to fit; `(root)` is
 * the whole value.
 */
export type ParseResult<T> =
  | { readonly ok: true; readonly value: T; readonly coerced?: readonly string[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * A schema as the runtime knows it, whichever library it came from: how to describe it to a model and how to
 * parse a value. `parse` never throws and never changes its input; defaults are filled in the value it
 * returns.
 */
export interface Schema<T = unknown> {
  readonly jsonSchema: JsonSchema;
  parse(value: unknown): ParseResult<T> | Promise<ParseResult<T>>;
}

/** The issues on one line, each with its path: `days: expected number; city: missing`. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues
    .map((issue) => (issue.path.length === 0 ? issue.message : `${shortPath(issue.path)}: ${issue.message}`))
    .join("; ");
}

// The names on the way may be whole texts, of whoever made the value.
const longestPath = 200;

function shortPath(path: Issue["path"]): string {
  const text = pathText(path);
  return text.length > longestPath ? `${text.slice(0, longestPath)}…` : text;
}

/** A path as a JSON Pointer: `/items/0/name`. The whole value is the empty text. */
export function pointerText(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** A path as people write it: `days`, `items[0].name`. The whole value is the empty text. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join("");
}

/**
 * Tells whether a schema may have changed a value that a person or a hook wrote. They are shown what the schema made, and write values of that
 * form: a schema that changes values (`transform`) would change those once more.
 */
export async function isChangedAgain(schema: Schema, value: unknown): Promise<boolean> {
  const got = plainJson(value);
  const again = got.ok ? await schema.parse(got.value) : undefined;
  if (!got.ok || again?.ok !== true) return false;
  const then = plainJson(again.value);
  return !then.ok || !sameJson(then.value, got.value);
}

/** The value as a schema parses it, as JSON; undefined if the value does not fit, if JSON cannot show the result, and for a schema that takes its time. */
export function parsedAtOnce(schema: Schema, value: Json): Json | undefined {
  const parsed = schema.parse(copyOfPlain(value));
  leaveUnheard(parsed);
  const shown = !(parsed instanceof Promise) && parsed.ok ? plainJson(parsed.value) : undefined;
  return shown?.ok === true ? shown.value : undefined;
}

/** The reason why such a call does not run. */
export const changedAgain =
  "its schema changes values, and would change once more what a person wrote who was shown the changed ones";
