import { parseCallJson } from "../util/call-json.ts";
import { isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { listAt, typesAt } from "./keywords.ts";
import { type Issue, pathText } from "./schema.ts";
import type { Guide } from "./standard.ts";
import type { Work } from "./visit.ts";

type Path = Issue["path"];

/** A changed copy, and the paths that were changed, as text; `(root)` is the whole value. */
export interface Coercion {
  readonly value: unknown;
  readonly paths: readonly string[];
}

/** The guide, and the work that may go into reading it. */
interface WorkedGuide extends Guide {
  readonly work: Work;
}

/**
 * Changes what models often get wrong in form but not in meaning, only at paths that have an issue, and only without loss:
 *
 * - a number or boolean becomes text where text is wanted (an integer only if a double holds it exactly);
 * - text becomes a number or boolean where one is wanted and the text is how JSON writes it;
 * - text that is JSON, without a key twice, becomes the object or list that is wanted (models encode twice);
 * - a list of one object becomes that object where the whole value is to be an object.
 *
 * Never changes null, and never its input. Undefined when nothing can be changed; nothing more is changed when no work is left. Whether the result fits is for the schema to say.
 */
export function coerce(value: unknown, issues: readonly Issue[], guide: WorkedGuide): Coercion | undefined {
  const copies = new Set<unknown>();
  const paths = new Set<string>();
  const seen = new Set<string>();
  let root = value;
  for (const { path } of issues) {
    const name = path.length === 0 ? "(root)" : pathText(path);
    // A place has an issue from each alternative that it does not fit: look at it once.
    if (seen.has(name)) continue;
    if (!guide.work.take(1)) break;
    seen.add(name);
    const current = path.reduce(part, root);
    if (!isPlain(current) && !(path.length === 0 && Array.isArray(current))) continue;
    const wanted = typesWanted(schemasAt(guide, path), current);
    const changed = (path.length === 0 ? unwrapped(current, wanted) : undefined) ?? fitted(current, wanted);
    if (changed === undefined) continue;
    root = replaced(root, { path, value: changed, copies });
    paths.add(name);
  }
  return paths.size === 0 ? undefined : { value: root, paths: [...paths] };
}

function fitted(value: unknown, wanted: ReadonlySet<string>): unknown {
  if (typeof value === "string") return fromText(value, wanted);
  if (!wanted.has("string")) return undefined;
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && isExact(value) ? String(value) : undefined;
}

function fromText(text: string, wanted: ReadonlySet<string>): unknown {
  const number = Number(text);
  const numeric = wanted.has("number") || (wanted.has("integer") && Number.isInteger(number));
  if (numeric && isExact(number) && String(number) === text) return number;
  if (wanted.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (!wanted.has("object") && !wanted.has("array")) return undefined;
  const parsed = parseCallJson(text);
  if (!parsed.ok) return undefined;
  return (isJsonObject(parsed.value) && wanted.has("object")) ||
    (Array.isArray(parsed.value) && wanted.has("array"))
    ? parsed.value
    : undefined;
}

function unwrapped(value: unknown, wanted: ReadonlySet<string>): JsonObject | undefined {
  if (!Array.isArray(value) || value.length !== 1 || !wanted.has("object") || wanted.has("array"))
    return undefined;
  const only: unknown = value[0];
  return isJsonObject(only) ? only : undefined;
}

/** Beyond the safe integers two texts share a double; -0 would lose its sign. */
function isExact(value: number): boolean {
  return (
    Number.isFinite(value) &&
    (!Number.isInteger(value) || Number.isSafeInteger(value)) &&
    !Object.is(value, -0)
  );
}

/** Of a closed choice, the types of the members that the value means: "5" means the 5 among 1 and 5, and nothing among 1 and 2. */
function typesWanted(schemas: Iterable<JsonObject>, value: unknown): ReadonlySet<string> {
  const types = new Set<string>();
  // Not of objects: one with a field "toString" cannot be written as text.
  const written = isPlain(value) ? String(value) : undefined;
  for (const schema of schemas) {
    const only = own(schema, "const");
    const choices = only === undefined ? listAt(schema, "enum") : [only];
    const meant = choices.filter((choice) => isPlain(choice) && String(choice) === written);
    if (choices.length > 0) for (const choice of meant) types.add(typeof choice);
    else for (const type of typesAt(schema)) types.add(type);
  }
  return types;
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** All schemas that may judge what stands at a path, alternatives included: the parse after the change decides. */
function schemasAt(guide: WorkedGuide, path: Path): ReadonlySet<JsonObject> {
  let schemas = expanded(guide, [guide.schema]);
  for (const key of path) {
    const parts = Array.from(schemas, (schema) => step(schema, key));
    schemas = expanded(guide, parts);
  }
  return schemas;
}

/** The work of a look at the keywords of one schema, in steps of the judge. */
const lookingAtSchema = 5;

function expanded(
  { endsOf, work }: WorkedGuide,
  schemas: readonly (Json | undefined)[],
): ReadonlySet<JsonObject> {
  const found = new Set<JsonObject>();
  const add = (schema: Json | undefined): void => {
    if (isJsonObject(schema)) found.add(schema);
  };
  schemas.forEach(add);
  // A set that is walked also gives what is added meanwhile, and each entry once.
  for (const schema of found) {
    endsOf(schema).forEach(add);
    work.take(lookingAtSchema + listAt(schema, "enum").length);
    for (const keyword of ["allOf", "anyOf", "oneOf"]) listAt(schema, keyword).forEach(add);
    for (const keyword of ["then", "else"]) add(own(schema, keyword));
  }
  return found;
}

function step(schema: JsonObject, key: string | number): Json | undefined {
  if (typeof key === "number") return listAt(schema, "prefixItems")[key] ?? own(schema, "items");
  const properties = own(schema, "properties");
  const property = isJsonObject(properties) ? own(properties, key) : undefined;
  return property ?? own(schema, "additionalProperties");
}

/** An own part of a list or plain object; undefined for all else, so that nothing inherited is ever reached. */
function part(container: unknown, key: string | number): unknown {
  return isContainer(container) && Object.hasOwn(container, key) ? container[key] : undefined;
}

interface Replacement {
  readonly path: Path;
  readonly value: unknown;
  /** Objects that are copies already, so that a long list is copied once and not for each of its entries. */
  readonly copies: Set<unknown>;
}

function replaced(container: unknown, { path, value, copies }: Replacement): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (!isContainer(container)) return container;
  const copy = copies.has(container)
    ? container
    : Array.isArray(container)
      ? container.slice()
      : { ...container };
  copies.add(copy);
  const changed = replaced(part(copy, key), { path: rest, value, copies });
  // Not an assignment, which would set the prototype by the key "__proto__".
  Object.defineProperty(copy, key, { value: changed, writable: true, enumerable: true, configurable: true });
  return copy;
}

function isContainer(value: unknown): value is Record<string | number, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
