import type { Json, JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import {
  fieldFault,
  type Fields,
  firstOf,
  firstTwice,
  kindOf,
  listOf,
  objectOf,
  objectsOf,
  type Path,
  textOf,
} from "./fields.ts";
import { invalid, isSigned, type ProviderError } from "./wire.ts";

/** Values that Google takes in place of a signature, for calls that another model made. */
const unsigned = new Set(["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]);

/** Refuses the requests that `generateContent` of Gemini refuses. Names of fields may have both spellings, `functionCall` and `function_call`. */
export function refuseContent({ path, body: given }: FakeRequest): ProviderError | undefined {
  const body = camelKeys(given);
  const contents = objectsOf(body["contents"]).map(camelKeys);
  return (
    checkFields(body, [], requestFields) ??
    checkFields(camelKeys(objectOf(body["generationConfig"])), ["generationConfig"], configFields) ??
    firstOf(objectsOf(body["tools"]).map(camelKeys), checkTool) ??
    (contents.length === 0
      ? invalid("* GenerateContentRequest.contents: contents is not specified\n")
      : undefined) ??
    firstOf(contents, checkContent) ??
    checkTurns(contents) ??
    (needsSignatures(path) ? checkSignatures(contents) : undefined)
  );
}

/** True for Gemini from 3 on, which requires its thought signatures. */
export function needsSignatures(path: string): boolean {
  return /models\/gemini-(?:[3-9]|\d{2})/.test(path);
}

const requestFields: Fields = {
  contents: "array",
  systemInstruction: "object",
  tools: "array",
  toolConfig: "object",
  safetySettings: "array",
  generationConfig: "object",
  cachedContent: "string",
  labels: "object",
  model: "string",
  serviceTier: "string",
  store: "boolean",
};

const configFields: Fields = Object.fromEntries(
  `candidateCount stopSequences maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs
  responseMimeType responseSchema responseJsonSchema responseFormat responseModalities speechConfig thinkingConfig mediaResolution imageConfig
  audioTimestamp enableAffectiveDialog enableEnhancedCivicAnswers routingConfig modelSelectionConfig translationConfig audioTranscriptionConfig`
    .split(/\s+/)
    .map((name) => [name, "any"]),
);

const partFields: Fields = {
  text: "string",
  thought: "boolean",
  thoughtSignature: "string",
  functionCall: "object",
  functionResponse: "object",
  inlineData: "object",
  fileData: "object",
  executableCode: "object",
  codeExecutionResult: "object",
  toolCall: "object",
  toolResponse: "object",
  videoMetadata: "object",
  mediaResolution: "object",
  mediaProcessing: "object",
  audioTranscription: "object",
  partMetadata: "object",
  speechMetadata: "object",
};
const dataFields = [
  "text",
  "functionCall",
  "functionResponse",
  "inlineData",
  "fileData",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];
const callFields: Fields = {
  id: "string",
  name: "string",
  args: "object",
  partialArgs: "array",
  willContinue: "boolean",
};
const responseFields: Fields = {
  id: "string",
  name: "string",
  response: "object",
  parts: "array",
  scheduling: "string",
  willContinue: "boolean",
};

/** The object with its names in camel case; objects inside stay as they are. */
function camelKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [camelCase(name), value]));
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/** The path of a field as text: `contents[0].parts[0].function_response` */
function pathText(at: Path): string {
  return at.reduce<string>((path, step) => {
    if (typeof step === "number") return `${path}[${step}]`;
    const name = step.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return path === "" ? name : `${path}.${name}`;
  }, "");
}

function checkFields(object: JsonObject, at: Path, fields: Fields): ProviderError | undefined {
  const found = fieldFault(object, at, fields);
  if (found === undefined) return undefined;
  const place = pathText(at);
  const name = String(found.at.at(-1));
  const where = place === "" ? "" : ` at '${place}'`;
  if (found.fault === "unknown")
    return invalid(
      `Invalid JSON payload received. Unknown name "${name}"${where}: Cannot find field.`,
      place,
    );
  return invalid(`Invalid value at '${pathText(found.at)}'`, pathText(found.at));
}

function checkTool(tool: JsonObject, index: number): ProviderError | undefined {
  const declarations = objectsOf(tool["functionDeclarations"]).map(camelKeys);
  const twice = firstTwice(declarations.map(({ name }) => textOf(name)));
  if (twice !== undefined) return invalid(`Duplicate function declaration found: ${twice}`);
  return firstOf(declarations, (declaration, place) => {
    const at: Path = ["tools", index, "functionDeclarations", place];
    const fields =
      "name description parameters parametersJsonSchema response responseJsonSchema behavior".split(" ");
    const found =
      checkFields(declaration, at, Object.fromEntries(fields.map((name) => [name, "any"]))) ??
      checkSchema(objectOf(declaration["parameters"]), [...at, "parameters"]);
    if (found !== undefined || /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(textOf(declaration["name"])))
      return found;
    const rule =
      "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.";
    return invalid(`* GenerateContentRequest.${pathText([...at, "name"])}: ${rule}\n`);
  });
}

const schemaFields: Fields = Object.fromEntries(
  `anyOf default description enum example format items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum nullable
  pattern properties propertyOrdering required title type`
    .split(/\s+/)
    .map((name) => [name, "any"]),
);

/** Checks a schema: `parameters` takes a part of JSON Schema, `parametersJsonSchema` all of it. */
function checkSchema(given: JsonObject, at: Path): ProviderError | undefined {
  const schema = camelKeys(given);
  return (
    checkFields(schema, at, schemaFields) ??
    firstOf(Object.values(objectOf(schema["properties"])), (property, index) =>
      checkSchema(objectOf(property), [...at, "properties", index, "value"]),
    ) ??
    (schema["items"] === undefined ? undefined : checkSchema(objectOf(schema["items"]), [...at, "items"])) ??
    firstOf(objectsOf(schema["anyOf"]), (one, index) => checkSchema(one, [...at, "anyOf", index]))
  );
}

function checkContent(content: JsonObject, index: number): ProviderError | undefined {
  const at: Path = ["contents", index];
  const found = checkFields(content, at, { role: "string", parts: "array" });
  if (found !== undefined) return found;
  if (!["user", "model", "function", ""].includes(textOf(content["role"])))
    return invalid("Please use a valid role: user, model.");
  if (listOf(content["parts"]).length === 0)
    return invalid(`* GenerateContentRequest.${pathText(at)}.parts: contents.parts must not be empty.\n`);
  return firstOf(partsOf(content), (part, place) => checkPart(part, [...at, "parts", place]));
}

function checkPart(part: JsonObject, at: Path): ProviderError | undefined {
  const found =
    checkFields(part, at, partFields) ??
    checkFields(camelKeys(objectOf(part["functionCall"])), [...at, "functionCall"], callFields) ??
    checkFields(camelKeys(objectOf(part["functionResponse"])), [...at, "functionResponse"], responseFields);
  if (found !== undefined) return found;
  const where = `* GenerateContentRequest.${pathText(at)}`;
  if (!dataFields.some((name) => isGiven(part[name])))
    return invalid(`${where}.data: required oneof field 'data' must have one initialized field\n`);
  for (const name of ["functionCall", "functionResponse"])
    if (isGiven(part[name]) && textOf(objectOf(part[name])["name"]) === "")
      return invalid(`${where}.${pathText([name])}.name: Name cannot be empty.\n`);
  return undefined;
}

function isGiven(value: Json | undefined): boolean {
  return !["nothing", "null"].includes(kindOf(value));
}

function partsOf(content: JsonObject): readonly JsonObject[] {
  return objectsOf(content["parts"]).map(camelKeys);
}

/** Counts the parts of a kind in a content. */
function countOf(content: JsonObject | undefined, name: string): number {
  return content === undefined ? 0 : partsOf(content).filter((part) => isGiven(part[name])).length;
}

/** Checks that calls come after the user or after responses, and that as many responses directly follow them. */
function checkTurns(contents: readonly JsonObject[]): ProviderError | undefined {
  return firstOf(contents, (content, index) => {
    const before = contents[index - 1];
    if (countOf(content, "functionCall") > 0) {
      if (before === undefined || before["role"] === "model")
        return invalid(
          "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        );
      if (countOf(contents[index + 1], "functionResponse") !== countOf(content, "functionCall"))
        return invalid(
          "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        );
    }
    const isLost = countOf(content, "functionResponse") > 0 && countOf(before, "functionCall") === 0;
    return isLost
      ? invalid("Please ensure that function response turn comes immediately after a function call turn.")
      : undefined;
  });
}

/** Checks that the first call of each step since the last message of the user has its signature, and that no signature was made up. */
function checkSignatures(contents: readonly JsonObject[]): ProviderError | undefined {
  const begun = contents.findLastIndex(
    (content) => content["role"] !== "model" && countOf(content, "functionResponse") === 0,
  );
  return firstOf(contents, (content, index) => {
    const call = partsOf(content).find((part) => isGiven(part["functionCall"]));
    if (index > begun && call !== undefined && textOf(call["thoughtSignature"]) === "") {
      const name = textOf(objectOf(call["functionCall"])["name"]);
      return invalid(
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
      );
    }
    const signatures = partsOf(content).map((part) => textOf(part["thoughtSignature"]));
    return signatures.every(isGenuine) ? undefined : invalid("Corrupted thought signature.");
  });
}

function isGenuine(signature: string): boolean {
  if (signature === "" || unsigned.has(signature)) return true;
  return isSigned(signature) || unsigned.has(Buffer.from(signature, "base64").toString());
}
