import { checkSchema, followPointer } from "../../schema/check-schema.ts";
import { childrenOf } from "../../schema/keywords.ts";
import { own, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type { Parts } from "./parts.ts";

/** The keywords that judge a value by themselves. */
const judging: ReadonlySet<string> = new Set(
  [
    "type const enum anyOf oneOf not if then else dependentSchemas dependentRequired required properties patternProperties",
    "additionalProperties propertyNames contains minContains maxContains unevaluatedProperties unevaluatedItems items prefixItems",
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties",
    "maxProperties uniqueItems pattern format",
  ].flatMap((names) => names.split(" ")),
);

/** The schemas inside one, as {@link Parts}: an object is made for each once, so that the same parts are known again. */
export interface JudgingSchemas {
  /** The parts of a value with these schemas; undefined when one of them is false. */
  partsOf(given: readonly Json[]): Parts | undefined;
  /** The same for the same parts, and different for others. */
  keyOf(parts: Parts): string;
  /** A JSON pointer to where it was met first. */
  pathOf(part: JsonObject): string;
  /** The part without a keyword. */
  without(part: JsonObject, keyword: string): JsonObject;
}

/** Makes the parts of schemas inside `root`. */
export function judgingSchemas(root: Json): JudgingSchemas {
  const paths = new Map<JsonObject, string>();
  const leaves = new Map<JsonObject, JsonObject | undefined>();
  const ids = new Map<JsonObject, number>();
  const stripped = new Map<string, JsonObject>();
  const targetsOf = referencesIn(root);

  const pathOf = (schema: JsonObject): string => paths.get(schema) ?? "";
  const setPath = (schema: Json, path: string): void => {
    if (isJsonObject(schema) && !paths.has(schema)) paths.set(schema, path);
  };

  function register(leaf: JsonObject, path: string): JsonObject {
    paths.set(leaf, path);
    leaves.set(leaf, leaf);
    ids.set(leaf, ids.size);
    for (const child of childrenOf(leaf)) setPath(child.schema, path + child.path.map(pointerStep).join(""));
    return leaf;
  }

  /** The keywords of a schema that judge a value by themselves; undefined when it has none. */
  function leafOf(schema: JsonObject): JsonObject | undefined {
    if (leaves.has(schema)) return leaves.get(schema);
    const kept = Object.entries(schema).filter(([name]) => judging.has(name));
    const leaf = kept.length === 0 ? undefined : register(Object.fromEntries(kept), pathOf(schema));
    leaves.set(schema, leaf);
    return leaf;
  }

  /** The schemas that judge the same value with this one. */
  function besideOf(schema: JsonObject): readonly Json[] {
    const all = own(schema, "allOf");
    const parts: readonly Json[] = Array.isArray(all) ? all : [];
    for (const [index, part] of parts.entries()) setPath(part, `${pathOf(schema)}/allOf/${index}`);
    const targets = targetsOf(schema);
    const reference = own(schema, "$ref");
    for (const target of targets) setPath(target, typeof reference === "string" ? reference.slice(1) : "");
    return [...targets, ...parts];
  }

  return {
    partsOf: (given) => collectParts(given, leafOf, besideOf),
    keyOf: (parts) => parts.map((part) => ids.get(part)).join(),
    pathOf,
    without(part, keyword) {
      const key = `${ids.get(part)} ${keyword}`;
      const known = stripped.get(key);
      if (known !== undefined) return known;
      const kept = Object.entries(part).filter(([name]) => name !== keyword);
      const made = register(Object.fromEntries(kept), pathOf(part));
      stripped.set(key, made);
      return made;
    },
  };
}

function collectParts(
  given: readonly Json[],
  leafOf: (schema: JsonObject) => JsonObject | undefined,
  besideOf: (schema: JsonObject) => readonly Json[],
): Parts | undefined {
  const parts = new Set<JsonObject>();
  const seen = new Set<JsonObject>();
  const waiting = given.toReversed();
  for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
    if (schema === false) return undefined;
    if (!isJsonObject(schema) || seen.has(schema)) continue;
    seen.add(schema);
    const leaf = leafOf(schema);
    if (leaf !== undefined) parts.add(leaf);
    if (leaf !== schema) waiting.push(...besideOf(schema).toReversed());
  }
  return [...parts];
}

/** Follows the references of a schema. Those of a wrong schema are followed as far as they lead. */
function referencesIn(root: Json): (schema: JsonObject) => readonly Json[] {
  let checked: ReadonlyMap<JsonObject, readonly Json[]> | undefined;
  return (schema) => {
    const references = [own(schema, "$ref"), own(schema, "$dynamicRef")].filter(
      (reference) => typeof reference === "string",
    );
    if (references.length === 0) return [];
    checked ??= targetsIn(root);
    return checked.get(schema) ?? references.flatMap((reference) => followPointer(root, reference) ?? []);
  };
}

function targetsIn(root: Json): ReadonlyMap<JsonObject, readonly Json[]> {
  if (!isJsonObject(root)) return new Map();
  try {
    return checkSchema(root).targets;
  } catch {
    return new Map();
  }
}

function pointerStep(key: string | number): string {
  return `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
