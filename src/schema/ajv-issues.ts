import type { ErrorObject } from "ajv/dist/2020.js";
import { isJsonObject } from "../util/json.ts";
import type { Issue } from "./schema.ts";

// A long list that is wrong throughout has an error an entry.
const maxErrors = 1000;

const wrappers: ReadonlySet<string> = new Set([
  "anyOf",
  "if",
  "propertyNames",
  "oneOf",
  "$ref",
  "$dynamicRef",
]);

/**
 * What ajv found, for readers: paths as lists, one issue a path and message, types that one place may have in one issue, and no "must match
 * a schema in anyOf" where the alternatives already say what is wrong.
 */
export function issuesFromAjv(errors: readonly ErrorObject[], value: unknown): readonly Issue[] {
  const considered = errors.slice(0, maxErrors);
  const plain = considered.filter((error) => !isWrapper(error));
  const types = typesByPlace(plain);
  const issues = (plain.length > 0 ? plain : considered).map((error) => toIssue(error, { value, types }));
  const seen = new Map(issues.map((issue) => [JSON.stringify([issue.path, issue.message]), issue]));
  return [...seen.values()];
}

interface Context {
  readonly value: unknown;
  readonly types: ReadonlyMap<string, readonly string[]>;
}

function isWrapper(error: ErrorObject): boolean {
  return wrappers.has(error.keyword) && !Array.isArray(error.params["passingSchemas"]);
}

/** A value that fits none of several alternatives has a type error from each. */
function typesByPlace(errors: readonly ErrorObject[]): ReadonlyMap<string, readonly string[]> {
  const types = new Map<string, readonly string[]>();
  for (const error of errors) {
    if (error.keyword !== "type") continue;
    const wanted: unknown = error.params["type"];
    const before = types.get(error.instancePath) ?? [];
    types.set(error.instancePath, [
      ...new Set([...before, ...(Array.isArray(wanted) ? wanted : [wanted]).map(String)]),
    ]);
  }
  return types;
}

interface Reading {
  /** The name of the parameter that names the property at fault, where the issue is about one. */
  readonly key?: string;
  readonly message: (error: ErrorObject, types: readonly string[]) => string;
}

const readings: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ["required", { key: "missingProperty", message: () => "missing" }],
  [
    "dependentRequired",
    { key: "missingProperty", message: ({ params }) => `missing, since "${params["property"]}" is given` },
  ],
  ["additionalProperties", { key: "additionalProperty", message: (error) => `unknown${knownOf(error)}` }],
  ["unevaluatedProperties", { key: "unevaluatedProperty", message: () => "unknown" }],
  ["propertyNames", { key: "propertyName", message: () => "has a name that is not allowed" }],
  ["type", { message: ({ data }, types) => `must be ${types.join(" or ")}, is ${show(data)}` }],
  [
    "enum",
    { message: ({ params, data }) => `must be one of ${showAll(params["allowedValues"])}, is ${show(data)}` },
  ],
  ["const", { message: ({ params, data }) => `must be ${show(params["allowedValue"])}, is ${show(data)}` }],
  ["anyOf", { message: () => "fits none of the alternatives" }],
  [
    "oneOf",
    {
      message: (error) =>
        isWrapper(error) ? "fits none of the alternatives" : "fits more than one alternative",
    },
  ],
  ["not", { message: () => "is what the schema forbids under `not`" }],
  ["false schema", { message: () => "is not allowed" }],
]);

function toIssue(error: ErrorObject, { value, types }: Context): Issue {
  const path = pathOf(error.instancePath, value);
  const name = error.propertyName;
  if (name !== undefined)
    return { path: [...path, name], message: `this name ${error.message ?? "is wrong"}` };
  const { key, message } = readings.get(error.keyword) ?? {
    message: () => error.message ?? `fails "${error.keyword}"`,
  };
  return {
    path: key === undefined ? path : [...path, String(error.params[key])],
    message: message(error, types.get(error.instancePath) ?? []),
  };
}

function knownOf({ parentSchema }: ErrorObject): string {
  const properties: unknown = parentSchema?.["properties"];
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return names.length === 0
    ? ""
    : `; known: ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
}

/** A pointer like "/days/0" says not whether "0" is a place in a list or a name: the value does. */
function pathOf(pointer: string, value: unknown): readonly (string | number)[] {
  let current = value;
  return pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const key = Array.isArray(current) && /^\d+$/.test(name) ? Number(name) : name;
      current =
        typeof current === "object" && current !== null
          ? (current as Record<string | number, unknown>)[key]
          : undefined;
      return key;
    });
}

function showAll(values: unknown): string {
  const all: readonly unknown[] = Array.isArray(values) ? values : [];
  return all.length > 20 ? `${all.slice(0, 20).map(show).join(", ")}, …` : all.map(show).join(", ");
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
