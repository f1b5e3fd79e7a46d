import type { JsonObject } from "../util/json.ts";
import { bundleSchemas } from "./bundle-schemas.ts";
import type { ReplyShape } from "./reply-shape.ts";

/** Any answer in words. */
export const anyAnswer: JsonObject = { type: "string", minLength: 1 };

/** An answer in words that is not blank. Not every provider of schemas supports patterns; our own grammar does. */
export const writtenAnswer: JsonObject = { type: "string", pattern: String.raw`\S` };

/** An object with exactly these fields, all required unless `required` names those that are. */
export function closedObject(
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** A name that no tool can have. */
const answerName = "$answer";

/** The objects that a protocol writes. */
interface ReplyObjects {
  readonly call: (name: string, args: JsonObject) => JsonObject;
  readonly answer: (content: JsonObject) => JsonObject;
}

/** The JSON Schema of replies that are one object: a call of one of the tools, made from its name and its arguments, or the answer. */
export function objectReplies(
  { tools, mayAnswer, output = {} }: ReplyShape,
  { call, answer }: ReplyObjects,
): JsonObject {
  const inputs = tools.map(({ name, input }) => [name, input.jsonSchema] as const);
  const bundle = bundleSchemas({ ...Object.fromEntries(inputs), [answerName]: output });
  const calls = tools.map(({ name }) => call(name, bundle.at(name)));
  return { ...oneOf([...calls, ...(mayAnswer ? [answer(bundle.at(answerName))] : [])]), ...bundle.root };
}

/** A schema of everything that one of these allows. */
export function oneOf(schemas: readonly JsonObject[]): JsonObject {
  const [only = {}] = schemas;
  return schemas.length === 1 ? only : { anyOf: schemas };
}
