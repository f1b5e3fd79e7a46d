import { isJsonObject, type Json, type JsonObject, refuseHoles, own } from "../util/json.ts";
import { shownValue } from "../util/shape.ts";
import { childrenOf, keywords } from "./keywords.ts";
import { slipFor } from "./slips.ts";

/** A schema whose keywords are right and whose references lead somewhere inside it. */
export interface CheckedSchema {
  readonly root: JsonObject;
  /** The targets of each schema with `$ref` or `$dynamicRef`. */
  readonly targets: ReadonlyMap<JsonObject, readonly Json[]>;
  /** The keywords that stand anywhere in it. */
  readonly keywords: ReadonlySet<string>;
  /** A keyword that is not known, where it is near a known one. */
  readonly slip: string | undefined;
}

/** The schema in which `#…` is looked up: the whole schema, or a part with its own `$id`. */
interface Resource {
  readonly root: JsonObject;
  readonly anchors: Map<string, JsonObject>;
}

interface Survey {
  readonly resources: Map<JsonObject, Resource>;
  readonly dynamicAnchors: Map<string, number>;
  readonly keywords: Set<string>;
  slip?: string;
}

interface Place {
  readonly path: Path;
  readonly resource?: Resource;
}

type Path = readonly (string | number)[];

// Readers of schemas and values are recursive. 256 keys are some 100 schemas inside each other.
const maxDepth = 256;

/**
 * A private copy of what may be JSON, so that later changes by its author change nothing. Fields that are undefined are dropped.
 *
 * @throws TypeError when it is not JSON, holds itself, or has a key `__proto__`
 */
export function copyJson(value: unknown, path: Path = []): Json {
  if (path.length > maxDepth)
    throw new TypeError(`it is nested deeper than ${maxDepth} keys, or holds itself.`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) {
    refuseHoles(value);
    return value.map((entry, index) => copyJson(entry, [...path, index]));
  }
  if ((typeof value === "object" || typeof value === "function") && "~standard" in value) {
    throw new TypeError(
      `${at(path)} is a Standard Schema inside a plain object. Build the whole in one library, like z.object({ … }).`,
    );
  }
  if (typeof value !== "object")
    throw new TypeError(`${at(path)} is ${shownValue(value)}, which JSON cannot hold.`);
  const copy: Record<string, Json> = {};
  for (const [key, field] of Object.entries(value)) {
    if (key === "__proto__") throw new TypeError(`${at(path)} has the key "__proto__", which is refused.`);
    if (field !== undefined) copy[key] = copyJson(field, [...path, key]);
  }
  return copy;
}

/**
 * Checks a schema: the value of each keyword, each pattern, each reference. References to other documents are refused, so that a foreign
 * schema never causes a request.
 *
 * @throws TypeError naming the place and what is wrong there
 */
export function checkSchema(root: JsonObject): CheckedSchema {
  if (Object.keys(root).length > 0 && !Object.keys(root).some((key) => keywords.has(key))) {
    const found = Object.keys(root).slice(0, 5).join(", ");
    throw new TypeError(
      `it has no keyword of JSON Schema, only: ${found}. Write { type: "object", properties: { … } }.`,
    );
  }
  const found: Survey = { resources: new Map(), dynamicAnchors: new Map(), keywords: new Set() };
  survey(found, root, { path: [] });
  const targets = new Map<JsonObject, readonly Json[]>();
  // A target in a place that is no schema position is surveyed when it is met, which lengthens the map that is walked here.
  for (const [schema, resource] of found.resources) {
    const references = ["$ref", "$dynamicRef"].map((name) => [name, own(schema, name)] as const);
    const ends = references.flatMap(([name, reference]) => {
      if (typeof reference !== "string") return [];
      const end = follow(reference, resource);
      if (name === "$dynamicRef") refuseDynamic(found, end, reference);
      survey(found, end, { path: [reference], resource });
      return [end];
    });
    if (ends.length > 0) targets.set(schema, ends);
  }
  refuseCircles(found, targets);
  return { root, targets, keywords: found.keywords, slip: found.slip };
}

/** The value that a JSON pointer in a fragment (`#/$defs/a`) leads to, by own keys only; undefined when it leads nowhere. Never throws. */
export function followPointer(root: Json, reference: string): Json | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  const keys = reference.slice(2).split("/");
  return keys.reduce<Json | undefined>((value, key) => {
    if (typeof value !== "object" || value === null) return undefined;
    const name = decoded(key).replaceAll("~1", "/").replaceAll("~0", "~");
    if (isJsonObject(value)) return own(value, name);
    return Object.hasOwn(value, name) ? value[Number(name)] : undefined;
  }, root);
}

/** The schema that references lead to from this one, through a few more; undefined when they lead to no object. Never throws. */
export function resolved(given: Json | undefined, root: JsonObject): JsonObject | undefined {
  let schema = given;
  for (let step = 0; step < 64 && isJsonObject(schema); step += 1) {
    const reference = own(schema, "$ref");
    if (typeof reference !== "string") return schema;
    schema = followPointer(root, reference);
  }
  return undefined;
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function survey(found: Survey, schema: Json, { path, resource }: Place): void {
  if (typeof schema === "boolean") return;
  if (!isJsonObject(schema)) throw new TypeError(`${at(path)} must be a schema (an object, true or false).`);
  if (found.resources.has(schema)) return;
  for (const [name, value] of Object.entries(schema)) surveyKeyword(found, [...path, name], value);
  const inside =
    resource === undefined || own(schema, "$id") !== undefined
      ? { root: schema, anchors: new Map() }
      : resource;
  found.resources.set(schema, inside);
  for (const name of ["$anchor", "$dynamicAnchor"]) {
    const anchor = own(schema, name);
    if (typeof anchor !== "string") continue;
    inside.anchors.set(anchor, schema);
    if (name === "$dynamicAnchor")
      found.dynamicAnchors.set(anchor, (found.dynamicAnchors.get(anchor) ?? 0) + 1);
  }
  for (const child of childrenOf(schema))
    survey(found, child.schema, { path: [...path, ...child.path], resource: inside });
}

function surveyKeyword(found: Survey, path: Path, value: Json): void {
  const name = String(path.at(-1));
  const keyword = keywords.get(name);
  found.keywords.add(name);
  const fault = keyword?.fault(value);
  if (fault !== undefined) throw new TypeError(`${at(path)} ${fault}.`);
  const meant = keyword === undefined ? slipFor(name, value) : undefined;
  if (meant !== undefined)
    found.slip ??= `${at(path)} is not a keyword of JSON Schema; did you mean "${meant}"?`;
}

function follow(reference: string, resource: Resource): Json {
  if (!reference.startsWith("#")) {
    throw new TypeError(
      `it refers to "${reference}". Only references inside the schema (#…) are followed; nothing is fetched.`,
    );
  }
  const end = resource.anchors.get(reference.slice(1)) ?? followPointer(resource.root, reference);
  if (end === undefined) throw new TypeError(`it refers to "${reference}", which is not in it.`);
  return end;
}

/** With one anchor of a name, a dynamic reference is a plain one. With several, the target depends on the way there: not supported. */
function refuseDynamic(found: Survey, end: Json, reference: string): void {
  const name = isJsonObject(end) ? own(end, "$dynamicAnchor") : undefined;
  if (typeof name !== "string" || (found.dynamicAnchors.get(name) ?? 0) < 2) return;
  throw new TypeError(
    `its $dynamicRef "${reference}" has several possible targets, which is not supported. Use $ref.`,
  );
}

/** A schema that leads to itself without going into the value would judge for ever. */
function refuseCircles(found: Survey, targets: CheckedSchema["targets"]): void {
  const done = new Set<Json>();
  const open = new Set<Json>();
  const visit = (schema: Json): void => {
    if (!isJsonObject(schema) || done.has(schema)) return;
    if (open.has(schema))
      throw new TypeError("it refers to itself in a circle that never reaches a part of the value.");
    open.add(schema);
    for (const end of targets.get(schema) ?? []) visit(end);
    for (const child of childrenOf(schema)) if (child.judges === "same") visit(child.schema);
    open.delete(schema);
    done.add(schema);
  };
  for (const schema of found.resources.keys()) visit(schema);
}

function at(path: Path): string {
  return path.length === 0 ? "it" : `"${path.join("/")}"`;
}
