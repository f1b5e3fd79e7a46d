import type { Json, JsonObject } from "../../util/json.ts";
import { type Fields, objectOf, type Path, textOf } from "./fields.ts";
import { checkFields, checkToolName, openaiPath } from "./openai-errors.ts";
import { invalid, type ProviderError } from "./wire.ts";

const schemaFields: Fields = {
  name: "string!",
  description: "string",
  schema: "object",
  strict: "boolean",
};

/** Refuses a form of answers that chat completions refuse: they have the schema in an object of its own. */
export function checkChatFormat(format: Json | undefined): ProviderError | undefined {
  const at: Path = ["response_format"];
  return checkFormat(format, at, (form) => {
    const fault = checkFields(form, at, { type: "string!", json_schema: "object!" });
    return fault ?? checkSchema(objectOf(form["json_schema"]), [...at, "json_schema"], schemaFields);
  });
}

/** Refuses a form of answers that `/v1/responses` refuses: it has the schema beside the type. */
export function checkResponseFormat(format: Json | undefined): ProviderError | undefined {
  const at: Path = ["text", "format"];
  const fields = { ...schemaFields, type: "string!", schema: "object!" };
  return checkFormat(format, at, (form) => checkSchema(form, at, fields));
}

function checkFormat(
  format: Json | undefined,
  at: Path,
  ofSchema: (form: JsonObject) => ProviderError | undefined,
): ProviderError | undefined {
  if (format === undefined || format === null) return undefined;
  const form = objectOf(format);
  const type = form["type"];
  if (type === "json_schema") return ofSchema(form);
  if (type === undefined) return checkFields({}, at, { type: "string!" });
  if (type === "text" || type === "json_object") return undefined;
  const message = `Invalid value: '${textOf(type)}'. Supported values are: 'json_object', 'json_schema', and 'text'.`;
  return invalid(message, openaiPath([...at, "type"]), "invalid_value");
}

function checkSchema(form: JsonObject, at: Path, fields: Fields): ProviderError | undefined {
  return checkFields(form, at, fields) ?? checkToolName(textOf(form["name"]), [...at, "name"]);
}
