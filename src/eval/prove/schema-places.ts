import { followPointer } from "../../schema/check-schema.ts";
import { propertyNames } from "../../schema/property-names.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { Tool } from "../../tool/tool.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

/** A place in the arguments of a tool where the model writes a value of its own. */
export interface Place {
  /** The path: `to`, `event.participants.email`. */
  readonly path: string;
  readonly schema: JsonSchema;
  /** Makes arguments with this value there, and nothing else. */
  readonly with: (value: Json) => JsonObject;
  /** True if the schema lists the possible values. */
  readonly isClosed?: true;
  /** The paths of values at this place in a call, as a regular expression. */
  readonly pattern: string;
}

/** The name of an argument that the schema does not have. */
const unnamed = "another_argument";

const deepest = 8;

type Given = Pick<Tool, "input" | "parameters">;

/**
 * All places of a tool. Values that the schema lists (choices, truth values) are the author's, and are left out. If the model
 * may name fields itself, `spoken` has the paths of fields that it may name.
 */
export function placesOf(tool: Given, spoken: readonly string[] = []): readonly Place[] {
  return allPlaces(tool, spoken).filter(({ isClosed }) => isClosed !== true);
}

function allPlaces({ input, parameters = {} }: Given, spoken: readonly string[] = []): readonly Place[] {
  const { jsonSchema: root } = input;
  const paths = [...Object.keys(parameters), ...spoken];
  return within(root, {
    path: "",
    pattern: "",
    with: asObject,
    depth: 0,
    root,
    spoken: paths,
    followed: [],
  });
}

/** Arguments with a text at each possible place, one place in each: also at those that a schema lists, and at the parts around each. */
export function probesOf(tool: Given): readonly JsonObject[] {
  const paths = new Set(
    allPlaces(tool).flatMap(({ path }) => {
      const parts = path.split(".");
      return parts.map((_, place) => parts.slice(0, place + 1).join("."));
    }),
  );
  return [...paths].map((path) => {
    const args = path.split(".").reduceRight<Json>((value, name) => ({ [name]: value }), "x");
    return asObject(args);
  });
}

/** True for the path of a value in a call that the tool's schema lists. */
export function listedIn(tool: Given): (path: string) => boolean {
  const places = allPlaces(tool);
  const [listed, open] = [true, false].map((isListed) =>
    places
      .filter(({ isClosed = false }) => isClosed === isListed)
      .map(({ pattern }) => new RegExp(`^${pattern}$`, "s")),
  );
  return (path) =>
    listed?.some((each) => each.test(path)) === true && open?.some((each) => each.test(path)) !== true;
}

interface Position extends Omit<Place, "schema" | "with"> {
  /** Makes arguments with this part there. If the model names a field on the way, that name is the value. */
  readonly with: (part: Json, value: Json) => JsonObject;
  readonly depth: number;
  readonly root: JsonSchema;
  /** Paths of fields that rules or sentences mention, and that the schema need not name. */
  readonly spoken: readonly string[];
  /** The references that were followed to here. */
  readonly followed: readonly string[];
}

function placeAt({ path, pattern, ...at }: Position, schema: JsonSchema): Place {
  return { path, pattern, schema, with: (value) => at.with(value, value) };
}

/** The places of a schema, and of all schemas beside it for the same value: which of these apply depends on the values. */
function within(schema: JsonSchema, at: Position): readonly Place[] {
  const { enum: choices, const: only, type } = schema;
  if (choices !== undefined || only !== undefined || type === "boolean" || type === "null")
    return [{ ...placeAt(at, schema), isClosed: true }];
  if (at.depth >= deepest || comesBack(schema, at)) return [placeAt(at, schema)];
  const deeper = { ...at, depth: at.depth + 1 };
  const beside = besides(schema, deeper);
  const own = ownPlaces(schema, deeper);
  const isWithin = ownNames(schema, at);
  return [
    ...(mayBePlain(schema, own) && at.path !== "" ? [placeAt(at, schema)] : []),
    ...(own ?? []),
    ...beside.flatMap((each) => within(each.schema, each.at)).filter(isWithin),
  ];
}

/** True if a text or a number may stand here, as far as the schema itself says. Schemas beside it are read on their own. */
function mayBePlain({ type, ...schema }: JsonSchema, own: readonly Place[] | undefined): boolean {
  const isHeld = [...lists, "$ref"].some((word) => schema[word] !== undefined);
  if (own === undefined) return !isHeld;
  if (Array.isArray(type))
    return type.some((each) => each === "string" || each === "number" || each === "integer");
  return type === undefined && !isHeld;
}

/** True for a reference that was followed twice already, as in a tree: anything may stand behind it. */
function comesBack({ $ref: reference }: JsonSchema, { followed }: Position): boolean {
  return followed.filter((each) => each === reference).length > 1;
}

interface Beside {
  readonly schema: JsonSchema;
  readonly at: Position;
}

/** The keywords for the same value: lists of schemas, one schema, or one by each name. */
const lists = ["anyOf", "oneOf", "allOf"] as const;
const single = ["if", "then", "else"] as const;

function besides(schema: JsonSchema, at: Position): readonly Beside[] {
  const parts = [
    ...lists.flatMap((word) => schemasIn(schema[word])),
    ...single.flatMap((word) => schemasIn(schema[word])),
    ...Object.values(asObject(schema["dependentSchemas"])).flatMap(schemasIn),
  ];
  const { type, additionalProperties } = schema;
  const said = {
    ...(type === undefined ? {} : { type }),
    ...(additionalProperties === false ? { additionalProperties } : {}),
  };
  return [...parts.map((part) => ({ schema: { ...said, ...part }, at })), ...referredTo(schema, said, at)];
}

function schemasIn(given: Json | undefined): readonly JsonObject[] {
  return (Array.isArray(given) ? given : [given]).filter(isJsonObject);
}

function referredTo({ $ref: reference }: JsonSchema, said: JsonObject, at: Position): readonly Beside[] {
  if (typeof reference !== "string") return [];
  const target = asObject(followPointer(at.root, reference));
  return [{ schema: { ...said, ...target }, at: { ...at, followed: [...at.followed, reference] } }];
}

/** True for the places that belong to the fields of an object which allows no others. */
function ownNames(
  { additionalProperties, properties, patternProperties }: JsonSchema,
  at: Position,
): (place: Place) => boolean {
  if (additionalProperties !== false || patternProperties !== undefined) return () => true;
  const names = Object.keys(asObject(properties));
  const paths = names.map((name) => under(at, name).path);
  return ({ path }) => path === at.path || paths.some((own) => path === own || path.startsWith(`${own}.`));
}

/** The places in the fields or entries that a schema has itself; undefined for a schema without any. */
function ownPlaces(schema: JsonSchema, at: Position): readonly Place[] | undefined {
  const { properties, type } = schema;
  const isOr = (name: string): boolean => Array.isArray(type) && type.includes(name);
  const hasEntries = ofEntries.some((word) => schema[word] !== undefined);
  const entries = hasEntries || isOr("array") ? entryPlaces(schema, at) : undefined;
  const hasFields = isJsonObject(properties) || type === "object" || isOr("object");
  const fields = hasFields || (at.path === "" && entries === undefined) ? fieldPlaces(schema, at) : undefined;
  return entries === undefined ? fields : [...entries, ...(fields ?? [])];
}

const ofEntries = ["items", "prefixItems", "contains", "unevaluatedItems"] as const;

/** The places in the entries of a list: those that its schema names, and what may stand behind or beside these. */
function entryPlaces(schema: JsonSchema, at: Position): readonly Place[] {
  const { prefixItems, contains, unevaluatedItems = true, items = unevaluatedItems, maxItems } = schema;
  const first = Array.isArray(prefixItems) ? prefixItems.map(asObject) : [];
  const isFull = items === false || (typeof maxItems === "number" && maxItems <= first.length);
  const held = [...first, ...(isFull ? [] : [asObject(items)])];
  const wanted = schemasIn(contains);
  const around = (before: readonly JsonObject[], after: readonly JsonObject[]): Position => ({
    ...at,
    with: (part, value) => {
      const filled = (others: readonly JsonObject[]): readonly Json[] =>
        others.map((each) => oneListed(each) ?? value);
      return at.with([...filled(before), part, ...filled(after)], value);
    },
  });
  return [
    ...held.flatMap((each, place) => within(each, around(first.slice(0, place), wanted))),
    ...wanted.flatMap((each) => within(each, around(first, []))),
  ];
}

function fieldPlaces(
  { properties, patternProperties, ...schema }: JsonSchema,
  at: Position,
): readonly Place[] {
  const fields = Object.entries(asObject(properties));
  const named = fields.flatMap(([name, field]) => within(asObject(field), under(at, name)));
  const { additionalProperties: others = schema["unevaluatedProperties"] } = schema;
  const open = [...Object.values(asObject(patternProperties)), ...(others === false ? [] : [others])];
  const own = fields.map(([name]) => name);
  return [...named, ...open.flatMap((each) => openPlaces(asObject(each), at, own))];
}

/** The places in fields that the model names itself. If the schema lists everything that they may hold, their names are such a place. */
function openPlaces(schema: JsonSchema, at: Position, own: readonly string[]): readonly Place[] {
  const found = openNames(at, own).flatMap((name) => within(schema, under(at, name, own)));
  if (found.some(({ isClosed }) => isClosed !== true)) return found;
  const nameIn = (name: Json): JsonObject => {
    const field = under(at, typeof name === "string" ? name : JSON.stringify(name), own);
    const [listed] = within(schema, field);
    return listed === undefined ? field.with({}, name) : listed.with(oneListed(listed.schema));
  };
  const path = at.path === "" ? unnamed : at.path;
  return [...found, { ...at, path, schema: { type: "string" }, with: nameIn }];
}

function oneListed({ enum: choices, const: only, type }: JsonSchema): Json {
  const [first] = Array.isArray(choices) ? choices : [];
  return only ?? first ?? (type === "boolean" ? true : null);
}

/**
 * The names that a model may give to a field that the schema does not name there, one of each kind: an unknown one,
 * those that rules or sentences mention, and one that the schema has elsewhere, which counts as the author's.
 */
function openNames({ path, root, spoken }: Position, own: readonly string[]): readonly string[] {
  const before = path === "" ? "" : `${path}.`;
  const meant = spoken.flatMap((each) =>
    each.startsWith(before) ? each.slice(before.length).split(".", 1) : [],
  );
  const elsewhere = [...propertyNames(root)].find((name) => !own.includes(name));
  const names = new Set([unnamed, ...meant, ...(elsewhere === undefined ? [] : [elsewhere])]);
  return [...names].filter((name) => !own.includes(name));
}

/** The pattern that matches this text alone. */
const literal = (text: string): string => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`);

function under(at: Position, name: string, own: readonly string[] = []): Position {
  const [path, before] = at.path === "" ? [name, ""] : [`${at.path}.${name}`, `${at.pattern}\\.`];
  if (name !== unnamed) {
    const put = (part: Json, value: Json): JsonObject => at.with({ [name]: part }, value);
    return { ...at, path, pattern: `${before}${literal(name)}`, with: put };
  }
  const others = own.map(literal).join("|");
  const pattern = `${before}(?!(?:${others})(?:\\.|$)).+`;
  const put = (part: Json, value: Json): JsonObject =>
    at.with({ [typeof value === "string" ? value : name]: part }, value);
  return { ...at, path, pattern, with: put };
}
