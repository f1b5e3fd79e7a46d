import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { type WrittenCall, readCallSequence } from "./call-expression.ts";
import { cursorOf } from "./cursor.ts";
import { readLiteral } from "./literal.ts";

const lists = ["tool_calls", "function_calls", "calls", "tools", "functions", "actions", "toolCalls"];
const wrappers = ["action", "tool_call", "function_call", "function", "call", "toolCall", "tool", "tool_use"];
const nameKeys =
  "name tool function tool_name function_name toolName action func api_name recipient_name".split(" ");
const argumentKeys =
  "arguments parameters params args input tool_input action_input kwargs inputs argument parameter actionInput".split(
    " ",
  );
/**
 * The calls that a value says, in any of the shapes that models write: `{"name", "arguments"}` and its kin, wrapped, in lists, `{"add": {…}}`,
 * or calls as texts. Undefined when it says something else, as does the definition of a tool.
 */
export function callsOfValue(
  value: Json,
  { isTool, twice }: Pick<Place, "isTool" | "twice">,
): readonly WrittenCall[] | undefined {
  return callsIn(value, { isTool, twice, depth: 0 });
}

interface Place {
  readonly isTool: (name: string) => boolean;
  /** Takes the keys that stand twice in one object of a text. */
  readonly twice: Set<string>;
  readonly depth: number;
}

function callsIn(value: Json, place: Place): readonly WrittenCall[] | undefined {
  if (place.depth > 4) return undefined;
  const inner = { ...place, depth: place.depth + 1 };
  if (Array.isArray(value))
    return listedCalls(value, place) ?? all(value.map((item: Json) => callsInItem(item, inner)));
  if (!isJsonObject(value)) return undefined;
  return namedCall(value, place) ?? wrappedCalls(value, inner) ?? keyedCalls(value, place);
}

/** `["add", {"a": 1}, …]`, `["add", "a=1", "b=2"]`: names of tools, each before what it is called with. */
function listedCalls(items: readonly Json[], { isTool }: Place): readonly WrittenCall[] | undefined {
  const calls: { name: string; named: Record<string, Json>; placed: readonly Json[] }[] = [];
  for (const item of items) {
    const last = calls.at(-1);
    const spelled = typeof item === "string" ? /^\s*([A-Za-z][\w-]*)\s*[=:]\s*([^]+)$/.exec(item) : null;
    if (typeof item === "string" && isTool(item)) calls.push({ name: item, named: {}, placed: [] });
    else if (last === undefined) return undefined;
    else if (isJsonObject(item)) Object.assign(last.named, item);
    else if (spelled !== null)
      last.named[spelled[1] ?? ""] = readLiteral(cursorOf(spelled[2] ?? "")) ?? spelled[2] ?? "";
    else return undefined;
  }
  const isComplete = calls.length > 0 && calls.every(({ named }) => Object.keys(named).length > 0);
  return isComplete ? calls : undefined; // names alone are a list of tools
}

function callsInItem(item: Json, place: Place): readonly WrittenCall[] | undefined {
  if (typeof item !== "string") return callsIn(item, place);
  const cursor = cursorOf(item, { repairs: new Set(), twice: place.twice });
  const found = readCallSequence(cursor);
  if (found !== undefined) return cursor.at >= item.length ? found.calls : undefined;
  const value = readLiteral(cursor);
  return isJsonObject(value) ? callsIn(value, place) : undefined;
}

/** All of them, or nothing. */
function all(found: readonly (readonly WrittenCall[] | undefined)[]): readonly WrittenCall[] | undefined {
  const whole = found.filter((calls) => calls !== undefined);
  return whole.length === found.length ? whole.flat() : undefined;
}

function namedCall(value: JsonObject, place: Place): readonly WrittenCall[] | undefined {
  const nameKey = nameKeys.find((key) => typeof value[key] === "string");
  const name = nameKey === undefined ? undefined : value[nameKey];
  if (typeof name !== "string" || name === "") return undefined;
  if (["description", "inputSchema", "input_schema", "properties"].some((key) => Object.hasOwn(value, key)))
    return undefined; // a definition
  const argumentKey = argumentKeys.find((key) => key !== nameKey && Object.hasOwn(value, key));
  if (argumentKey === undefined) {
    const others = Object.entries(value).filter(([key]) => key !== nameKey);
    return [{ name, named: Object.fromEntries(others), placed: [], isFlat: true }];
  }
  const args = unwrapped(value[argumentKey], place);
  if (args === undefined || isDefinition(args)) return undefined;
  return [isJsonObject(args) ? { name, named: args, placed: [] } : { name, named: {}, placed: args }];
}

/** Arguments may be text once more, or stand in a list of one. */
function unwrapped(given: Json | undefined, { twice }: Place): JsonObject | readonly Json[] | undefined {
  if (given === null || given === undefined || given === "") return {};
  if (typeof given === "string") {
    const read = readLiteral(cursorOf(given, { repairs: new Set(), twice }));
    return isJsonObject(read) ? read : undefined;
  }
  if (!Array.isArray(given)) return isJsonObject(given) ? given : undefined;
  const [only]: readonly Json[] = given;
  return given.length === 1 && isJsonObject(only) ? only : given;
}

const keywords = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "$schema",
  "title",
  "description",
]);

/** The schema of a tool, given back by the model in place of arguments. */
function isDefinition(args: JsonObject | readonly Json[]): boolean {
  if (!isJsonObject(args)) return false;
  const fields = Object.values(args);
  const isSchema =
    (args["type"] === "object" || args["type"] === "dict") &&
    Object.keys(args).every((key) => keywords.has(key));
  return isJsonObject(args["properties"]) || isSchema || (fields.length > 0 && fields.every(isTyped));
}

function isTyped(field: Json): boolean {
  return isJsonObject(field) && typeof field["type"] === "string" && Object.hasOwn(field, "description");
}

function wrappedCalls(value: JsonObject, place: Place): readonly WrittenCall[] | undefined {
  const listKey = lists.find((key) => Array.isArray(value[key]));
  if (listKey !== undefined) return callsIn(value[listKey] ?? null, place);
  const wrapper = wrappers.find((key) => isJsonObject(value[key]));
  return wrapper === undefined || place.isTool(wrapper) ? undefined : callsIn(value[wrapper] ?? null, place);
}

/** `{"add": {"a": 1}}`: the keys are the names of tools. */
function keyedCalls(value: JsonObject, place: Place): readonly WrittenCall[] | undefined {
  const entries = Object.entries(value);
  if (entries.length === 0 || (entries.length > 1 && !entries.every(([name]) => place.isTool(name))))
    return undefined;
  return all(entries.map(([name, args]) => keyedCall([name, args], place)));
}

function keyedCall([name, args]: readonly [string, Json], place: Place): readonly WrittenCall[] | undefined {
  if (Array.isArray(args) && args.length > 0 && args.every((item: Json) => isJsonObject(item)))
    return args.map((named: JsonObject) => ({ name, named, placed: [] }));
  const given = typeof args === "string" ? unwrapped(args, place) : args;
  return isJsonObject(given) && !isDefinition(given) ? [{ name, named: given, placed: [] }] : undefined;
}
