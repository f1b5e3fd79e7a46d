import { resolved } from "../../schema/check-schema.ts";
import { hasType } from "../../schema/assertions.ts";
import { listAt } from "../../schema/keywords.ts";
import { argumentNames } from "../../schema/property-names.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type { WrittenCall } from "./call-expression.ts";
import { convertedTo, typesOf } from "./convert.ts";
import { propertiesOf } from "./known-tools.ts";
import type { KnownTool, RecogniserMode } from "./recognise.ts";

/** Arguments as the tool's schema wants them, and what is still wrong with them. */
export interface Fitted {
  readonly args: JsonObject;
  readonly faults: readonly string[];
}

interface Fitting {
  readonly mode: RecogniserMode;
  readonly root: JsonSchema;
  readonly faults: string[];
  readonly repairs: Set<string>;
}

/**
 * Fits what was written to the schema of the tool where the meaning is clear: arguments by place get their names, names may differ in case,
 * texts become the numbers they spell, null for "not given" and arguments that the tool does not have are left out. It tells apart what a
 * call lacks; whether all of it is valid, the tool's schema says afterwards.
 */
export function fitCall(
  call: WrittenCall,
  tool: KnownTool,
  { mode, repairs }: Pick<Fitting, "mode" | "repairs">,
): Fitted {
  const fitting: Fitting = { mode, root: tool.inputSchema, faults: [], repairs };
  const named = call.isFlat === true ? argumentsBeside(call.named, tool) : byName(call, tool, fitting);
  return { args: fitObject(named, tool.inputSchema, fitting), faults: fitting.faults };
}

/** Fields beside a name that are not arguments, unless the tool has one of this name. */
const besideName = new Set(["type", "id", "thought", "index", "call_id", "tool_call_id"]);

function argumentsBeside(fields: JsonObject, tool: KnownTool): JsonObject {
  const properties = propertiesOf(tool);
  const given = Object.entries(fields).filter(
    ([key]) => !besideName.has(key) || propertyOf(properties, key) !== undefined,
  );
  return Object.fromEntries(given);
}

function byName({ named, placed }: WrittenCall, tool: KnownTool, { faults, repairs }: Fitting): JsonObject {
  const properties = propertiesOf(tool);
  const fits = (value: Json | undefined): value is JsonObject =>
    isJsonObject(value) && Object.keys(value).some((key) => propertyOf(properties, key) !== undefined);
  const [key, ...otherKeys] = Object.keys(named);
  if (placed.length === 0) {
    const inside =
      key === undefined || otherKeys.length > 0 || propertyOf(properties, key) !== undefined
        ? undefined
        : named[key];
    return fits(inside) ? inside : named; // `f(params={…})`
  }
  const [only] = placed;
  if (placed.length === 1 && fits(only)) return { ...only, ...named };
  const spelled = placed.map((value) =>
    typeof value === "string" ? /^\s*([\w-]+)\s*[=:]\s*([^]*)$/.exec(value) : null,
  );
  if (spelled.every((match) => match !== null && propertyOf(properties, match[1] ?? "") !== undefined))
    return { ...Object.fromEntries(spelled.map((match) => [match?.[1] ?? "", match?.[2] ?? ""])), ...named };
  const free = Object.keys(properties).filter((name) => !Object.hasOwn(named, name));
  if (placed.length > free.length) faults.push("it has more arguments than the tool takes");
  repairs.add("arguments by place were given their names");
  const entries = placed
    .slice(0, free.length)
    .map((value, index): [string, Json] => [free[index] ?? "", value]);
  return { ...Object.fromEntries(entries), ...named };
}

/** The property that a key means: itself, or the only one that differs in case and separators alone. */
export function propertyOf(properties: JsonObject, key: string): string | undefined {
  if (Object.hasOwn(properties, key)) return key;
  const plain = plainKey(key);
  const alike = Object.keys(properties).filter((name) => plainKey(name) === plain);
  return alike.length === 1 ? alike[0] : undefined;
}

function plainKey(key: string): string {
  return key.replaceAll(/[-_ \\]/g, "").toLowerCase();
}

function fitObject(value: JsonObject, schema: JsonObject, fitting: Fitting): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : undefined;
  const required = listAt(schema, "required");
  const isClosed = properties !== undefined && !hasRoom(schema);
  const entries = Object.entries(value).flatMap(([key, given]): [string, Json][] => {
    if (key === "__proto__") return [];
    const name = properties === undefined ? undefined : propertyOf(properties, key);
    if (properties === undefined || name === undefined) {
      if (!isClosed || isNamedBeside(key, schema)) return [[key, given]];
      if (fitting.mode !== "lenient" && schema["additionalProperties"] === false)
        fitting.faults.push(`there is no argument "${key}"`);
      fitting.repairs.add(`the argument "${key}" was left out: the tool has none`);
      return [];
    }
    if (name !== key) fitting.repairs.add(`the argument "${key}" was taken as "${name}"`);
    const wanted = resolved(properties[name], fitting.root) ?? {};
    if (given !== null || takesNull(wanted) || required.includes(name))
      return [[name, fit(given, wanted, { ...fitting, at: name, isItem: false })]];
    fitting.repairs.add(`null for "${name}" was left out`);
    return [];
  });
  const fitted: JsonObject = Object.fromEntries(entries);
  for (const name of required)
    if (typeof name === "string" && !Object.hasOwn(fitted, name))
      fitting.faults.push(`the argument "${name}" is missing`);
  return fitted;
}

/** True for a schema that says of which kind fields may be that it has no names for. */
function hasRoom(schema: JsonObject): boolean {
  return (schema["additionalProperties"] ?? false) !== false || Object.hasOwn(schema, "patternProperties");
}

/** True for a field that has its name in a choice of the schema, as in `oneOf: [{ properties: … }]`. */
function isNamedBeside(key: string, schema: JsonObject): boolean {
  return schema["additionalProperties"] !== false && argumentNames(schema).has(key);
}

function takesNull(schema: JsonObject): boolean {
  const types = typesOf(schema);
  const choices = schema["enum"];
  return types.length === 0 ? !Array.isArray(choices) || choices.includes(null) : types.includes("null");
}

interface FittingAt extends Fitting {
  readonly at: string;
  /** An item of a list is not made a list of itself. */
  readonly isItem?: boolean;
}

function fit(value: Json, schema: JsonObject, fitting: FittingAt): Json {
  const choices = schema["enum"];
  if (Array.isArray(choices)) return fitChoice(value, choices, fitting);
  const types = typesOf(schema);
  if (types.length === 0 || hasType(value, types)) return fitParts(value, schema, fitting);
  const changed = convertedTo(value, schema);
  if (changed === undefined || (fitting.isItem === true && Array.isArray(changed))) {
    fitting.faults.push(`the argument "${fitting.at}" is no ${types.join(" or ")}`);
    return value;
  }
  fitting.repairs.add(`the argument "${fitting.at}" was converted to ${types.join(" or ")}`);
  return fitParts(changed, schema, fitting);
}

function fitParts(value: Json, schema: JsonObject, fitting: FittingAt): Json {
  if (Array.isArray(value) && isJsonObject(schema["items"])) {
    const items = resolved(schema["items"], fitting.root) ?? {};
    return value.map((item: Json) => fit(item, items, { ...fitting, isItem: true }));
  }
  return isJsonObject(value) && isJsonObject(schema["properties"])
    ? fitObject(value, schema, fitting)
    : value;
}

function fitChoice(value: Json, choices: readonly Json[], fitting: FittingAt): Json {
  if (choices.includes(value)) return value;
  const [single]: readonly Json[] = Array.isArray(value) ? value : [];
  if (Array.isArray(value) && value.length === 1 && single !== undefined)
    return fitChoice(single, choices, fitting);
  const alike = choices.filter(
    (choice) => plainChoice(choice) === plainChoice(value) && plainChoice(value) !== "",
  );
  const [only] = alike;
  if (alike.length === 1 && only !== undefined) {
    fitting.repairs.add(`the argument "${fitting.at}" was spelled as the schema spells it`);
    return only;
  }
  fitting.faults.push(`the argument "${fitting.at}" is none of its choices`);
  return value;
}

function plainChoice(value: Json): string {
  return typeof value === "object" ? "" : String(value).trim().toLowerCase();
}
