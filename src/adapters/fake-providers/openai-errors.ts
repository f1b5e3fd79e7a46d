import type { JsonObject } from "../../util/json.ts";
import {
  type FieldFault,
  fieldFault,
  type Fields,
  firstOf,
  objectsOf,
  objectOf,
  type Path,
  textOf,
} from "./fields.ts";
import { invalid, type ProviderError } from "./wire.ts";

/** The body of an error of OpenAI. */
export function openaiError({ status, message, param, code }: ProviderError): JsonObject {
  const usual = usualErrors.get(status) ?? { type: "server_error", message: "The server had an error." };
  return {
    error: {
      message: message ?? usual.message,
      type: usual.type,
      param: param ?? null,
      code: code ?? usual.code ?? null,
    },
  };
}

const usualErrors: ReadonlyMap<
  number,
  { readonly type: string; readonly message: string; readonly code?: string }
> = new Map([
  [400, { type: "invalid_request_error", message: "Invalid request." }],
  [401, { type: "invalid_request_error", message: "Incorrect API key provided.", code: "invalid_api_key" }],
  [403, { type: "invalid_request_error", message: "You are not allowed to use this model." }],
  [
    404,
    { type: "invalid_request_error", message: "The model does not exist or you do not have access to it." },
  ],
  [429, { type: "requests", message: "Rate limit reached for requests.", code: "rate_limit_exceeded" }],
  [
    500,
    {
      type: "server_error",
      message: "The server had an error while processing your request. Sorry about that!",
    },
  ],
  [503, { type: "server_error", message: "The engine is currently overloaded, please try again later." }],
]);

/** The path of a field as text: `messages[0].content` */
export function openaiPath(at: Path): string {
  return at.reduce<string>((path, step) => {
    if (typeof step === "number") return `${path}[${step}]`;
    return path === "" ? step : `${path}.${step}`;
  }, "");
}

const kindWords: ReadonlyMap<string, string> = new Map([
  ["string", "a string"],
  ["boolean", "a boolean"],
  ["number", "a decimal"],
  ["integer", "an integer"],
  ["object", "an object"],
  ["array", "an array"],
  ["null", "null"],
]);
const inWords = (kind: string): string => kindWords.get(kind) ?? kind;

/** The error for the first field of an object that OpenAI would refuse. */
export function checkFields(object: JsonObject, at: Path, fields: Fields): ProviderError | undefined {
  const fault = fieldFault(object, at, fields);
  return fault === undefined ? undefined : fieldError(fault);
}

/** OpenAI's error for a field that it refuses. */
export function fieldError({ fault, at, wanted, got }: FieldFault): ProviderError {
  const path = openaiPath(at);
  if (fault === "unknown") return invalid(`Unknown parameter: '${path}'.`, path, "unknown_parameter");
  if (fault === "missing")
    return invalid(`Missing required parameter: '${path}'.`, path, "missing_required_parameter");
  const kinds = wanted.map(inWords);
  const wish = kinds.length > 1 ? `one of ${kinds.join(" or ")}` : kinds.join("");
  return invalid(
    `Invalid type for '${path}': expected ${wish}, but got ${inWords(got)} instead.`,
    path,
    "invalid_type",
  );
}

/** Refuses an empty list where OpenAI requires entries. */
export function checkNotEmpty(object: JsonObject, at: Path, name: string): ProviderError | undefined {
  const value = object[name];
  if (!Array.isArray(value) || value.length > 0) return undefined;
  const path = openaiPath([...at, name]);
  const message = `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  return invalid(message, path, "empty_array");
}

/** Refuses a text that is longer than OpenAI allows. */
export function checkLength(text: string, at: Path, most: number): ProviderError | undefined {
  if (text.length <= most) return undefined;
  const path = openaiPath(at);
  const message = `Invalid '${path}': string too long. Expected a string with maximum length ${most}, but got a string with length ${text.length} instead.`;
  return invalid(message, path, "string_above_max_length");
}

/** Refuses the name of a tool that OpenAI does not allow. */
export function checkToolName(name: string, at: Path): ProviderError | undefined {
  const path = openaiPath(at);
  if (!/^[a-zA-Z0-9_-]+$/.test(name))
    return invalid(
      `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      path,
      "invalid_value",
    );
  return checkLength(name, at, 64);
}

/** Refuses tools whose functions OpenAI would refuse. `functionAt` is the path of the function in a tool. */
export function checkTools(
  body: JsonObject,
  functionAt: readonly string[],
  check: (tool: JsonObject, at: Path) => ProviderError | undefined,
): ProviderError | undefined {
  return (
    checkNotEmpty(body, [], "tools") ??
    firstOf(objectsOf(body["tools"]), (tool, index) => {
      const at = ["tools", index];
      const found = check(tool, at);
      if (found !== undefined || tool["type"] !== "function") return found;
      const described = functionAt.reduce((value, name) => objectOf(value[name]), tool);
      const place = [...at, ...functionAt];
      return (
        checkToolName(textOf(described["name"]), [...place, "name"]) ?? checkParameters(described, place)
      );
    })
  );
}

function checkParameters({ name, parameters }: JsonObject, at: Path): ProviderError | undefined {
  if (parameters === undefined || parameters === null) return undefined;
  const type = objectOf(parameters)["type"];
  if (type === "object") return undefined;
  const shown = typeof type === "string" ? type : "None";
  const message = `Invalid schema for function '${textOf(name)}': schema must be a JSON Schema of 'type: "object"', got 'type: "${shown}"'.`;
  return invalid(message, openaiPath([...at, "parameters"]), "invalid_function_parameters");
}

/** Refuses options that need tools if there are none. */
export function checkToolOptions(body: JsonObject, names: readonly string[]): ProviderError | undefined {
  for (const option of ["tool_choice", "parallel_tool_calls"]) {
    const isGiven = body[option] !== undefined && body[option] !== null && body[option] !== "none";
    if (isGiven && body["tools"] === undefined)
      return invalid(
        `Invalid value for '${option}': '${option}' is only allowed when 'tools' are specified.`,
        option,
      );
  }
  const choice = objectOf(body["tool_choice"]);
  const wanted = textOf(choice["name"] ?? objectOf(choice["function"])["name"]);
  if (choice["type"] !== "function" || names.includes(wanted)) return undefined;
  return invalid(
    `Invalid value for 'tool_choice': no function named '${wanted}' was specified in the 'tools' parameter.`,
    "tool_choice",
  );
}
