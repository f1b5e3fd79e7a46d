import { type AllowList, offeredTools } from "../policy/allow-list.ts";
import type { Schema } from "../schema/schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { TurnInput } from "./driver.ts";
import { parseCallJson } from "../util/call-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { lenientObject } from "../util/lenient-json.ts";
import { answerPlace, describeType } from "./describe-type.ts";
import { insideFence, oneObject } from "./one-object.ts";
import { grammarFor, terminal } from "./grammar/grammar.ts";
import { matchTool } from "./match-tool.ts";
import { anyAnswer, closedObject, objectReplies, writtenAnswer } from "./object-replies.ts";
import { inputsOf, objectCalls } from "./plain-answer.ts";
import { normalizeArguments } from "./react-arguments.ts";
import type { OwnFields } from "./react-decision.ts";
import type { ReplyShape } from "./reply-shape.ts";

/**
 * The decision in a reply. After instructor-php's ReAct driver: `{"thought", "type": "call_tool", "tool",
 * "args"}` or `{"thought", "type": "final_answer", "answer"}`. An invalid decision has the message to the model,
 * and the stage that refused it.
 */
export type Decision =
  | {
      readonly type: "call_tool";
      readonly thought?: string;
      readonly tool: string;
      readonly args: JsonObject;
      /** The removed parts of the arguments, in words for people. */
      readonly repairs: readonly string[];
    }
  | { readonly type: "final_answer"; readonly thought?: string; readonly answer: Json }
  | {
      readonly type: "invalid";
      readonly stage: "decision_extraction" | "decision_validation";
      readonly problem: string;
    };

/**
 * Reads a decision, and checks it against the tools. A call must be the whole reply: one object, with or without a code block, or the form in
 * which calls are shown. A call with words around it may only be mentioned; an answer is extracted from them. Never throws.
 */
export function readDecision(
  text: string,
  { allowed, output }: Pick<TurnInput, "allowed" | "output">,
): Decision {
  const written = readWritten(text);
  if (written !== undefined) return readCall(written, allowed);
  const alone = oneObject(insideFence(text) ?? text, ({ type }) => type === "final_answer");
  if (alone.ok && alone.value["type"] === "call_tool") return readCall(alone.value, allowed);
  const found = alone.ok ? alone : lenientObject(text);
  const fault = alone.ok ? "" : alone.reason.replace("it is not one JSON object: ", "");
  if (!found.ok || !isJsonObject(found.value))
    return extraction(`The reply is not one JSON object: ${fault}.`);
  const { type } = found.value;
  if (type === "final_answer" && (alone.ok || !saysMore(text))) return readAnswer(found.value, output);
  if (type === "call_tool" || type === "final_answer")
    return extraction(`The reply must be one JSON object and nothing else: ${fault}.`);
  return invalid("Decision type must be call_tool or final_answer.");
}

/** True if words contain more than one decision. */
function saysMore(text: string): boolean {
  return (text.match(/"type"\s*:/g)?.length ?? 0) > 1;
}

/**
 * Reads the form in which the conversation shows calls to the model: some models write their next call the same way. Undefined if the
 * text is something else.
 */
export function readWritten(text: string): JsonObject | undefined {
  const input = /^[ \t]*Action Input:/m.exec(text);
  if (input === null) return undefined;
  const head = text.slice(0, input.index).trimEnd();
  const line = head.lastIndexOf("\n") + 1;
  const tool = /^[ \t]*Action:[ \t]*([^\s{]+)$/.exec(head.slice(line))?.[1];
  const [, before = "", thought = ""] = /^(Thought:)?(.*)$/s.exec(head.slice(0, line).trim()) ?? [];
  const args = oneObject(text.slice(input.index + input[0].length));
  return tool === undefined || (before === "" && thought !== "") || !args.ok
    ? undefined
    : { thought, tool, args: args.value };
}

function readCall({ thought, tool: name, args }: JsonObject, allowed: AllowList): Decision {
  if (typeof name !== "string" || name === "") return invalid("Tool name is required when type=call_tool.");
  const tool = allowed.tools.get(matchTool(name, allowed));
  if (tool === undefined) return invalid(`Requested tool is not available. ${toolsThere(allowed)}`);
  const given = unwrapped(args);
  if (given !== undefined && !isJsonObject(given))
    return invalid("Arguments must be a JSON object with parameter names as keys, not a sequential array.");
  const isMissing = given === undefined || Object.keys(given).length === 0;
  if (isMissing && wantsArguments(tool)) return invalid("Arguments are required when type=call_tool.");
  const { args: normal, dropped, forbidden } = normalizeArguments(given ?? {}, tool.input.jsonSchema);
  if (forbidden.length > 0)
    return invalid(
      `${tool.name} does not take ${forbidden.join(", ")}. Its arguments: ${describeType(tool.input.jsonSchema)}`,
    );
  const repairs = dropped.map((key) => `left out "${key}", which ${tool.name} does not take`);
  return { type: "call_tool", ...noteOf(thought), tool: tool.name, args: normal, repairs };
}

function toolsThere(allowed: AllowList): string {
  const names = offeredTools(allowed).map(({ name }) => name);
  return names.length === 0 ? "There is none." : `Available: ${names.join(", ")}.`;
}

/** Reads an answer. With a schema, it may be empty or null if the schema permits that. */
function readAnswer({ thought, answer }: JsonObject, output: Schema | undefined): Decision {
  const isEmpty = answer === null || (typeof answer === "string" && answer.trim() === "");
  return answer === undefined || (isEmpty && output === undefined)
    ? invalid("Answer is required when type=final_answer.")
    : { type: "final_answer", ...noteOf(thought), answer };
}

function noteOf(thought: Json | undefined): { readonly thought?: string } {
  return typeof thought === "string" && thought.trim() !== "" ? { thought: thought.trim() } : {};
}

/** The arguments without wrapping: none may be written as nothing, null or an empty list, and some models write the object as text. */
function unwrapped(args: Json | undefined): Json | undefined {
  if (args === null || args === "" || (Array.isArray(args) && args.length === 0)) return undefined;
  const parsed = typeof args === "string" ? parseCallJson(args) : undefined;
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : args;
}

/** True if a tool may need arguments: its schema requires some, or does not say at this level what it takes. */
function wantsArguments({ input }: Tool): boolean {
  const { required, properties } = input.jsonSchema;
  if (Array.isArray(required)) return required.length > 0;
  const elsewhere = ["$ref", "allOf", "anyOf", "oneOf", "if"];
  return properties === undefined && elsewhere.some((keyword) => Object.hasOwn(input.jsonSchema, keyword));
}

function extraction(problem: string): Decision {
  return { type: "invalid", stage: "decision_extraction", problem };
}

function invalid(problem: string): Decision {
  return { type: "invalid", stage: "decision_validation", problem };
}

/** The author's requirements for answers, and for each decision. */
interface Wanted {
  readonly output?: Schema | undefined;
  readonly own?: OwnFields | undefined;
}

/** Tells the model the protocol: the rules, the list of tools, and their schemas. */
export function reactInstructions(allowed: AllowList, { output, own }: Wanted = {}): string {
  const tools = offeredTools(allowed);
  const answer = answerPlace(output);
  const acting = [
    'To act: {"thought": "<why>", "type": "call_tool", "tool": "<name>", "args": {…}}',
    "args is a JSON object whose keys are the parameter names of the tool, not a list.",
    "Never calculate yourself: let the tools do it.",
    "Use only the tools below, with the parameters that they have. What a tool gives comes back as an observation.",
  ];
  const rules = [
    "INSTRUCTIONS:",
    "You work in steps of thought, action and observation.",
    "Each reply is strictly one JSON object and nothing else: no markdown, no words around it.",
    ...(tools.length === 0 ? [] : acting),
    `When nothing more needs to be done: {"thought": "<why>", "type": "final_answer", "answer": ${answer}}`,
    "Keep the thought short.",
    ...(own === undefined ? [] : [ownFieldsRule(own)]),
  ];
  const catalog = tools.map(({ name, description }) => ({ name, description }));
  const schemas = tools.map(({ name, input }) => ({ name, parameters: input.jsonSchema }));
  const lists = [
    `TOOL CATALOG (names, descriptions):\n${JSON.stringify(catalog)}`,
    `TOOL SCHEMAS (name, parameters):\n${JSON.stringify(schemas)}`,
  ];
  return [rules.join("\n"), ...(tools.length === 0 ? [] : lists)].join("\n\n");
}

function ownFieldsRule({ properties, required }: OwnFields): string {
  const schema = JSON.stringify({ properties, required });
  return `Each object, call or answer, also has these fields beside the others, given here as JSON Schema: ${schema}`;
}

/** The most characters of a thought in a constrained reply: small models do not come to an end. */
const longestThought = 200;

const noFields = { properties: {}, required: [] };

/** A JSON Schema of all decisions of this turn. */
export function decisionSchema(
  { output = anyAnswer, ...shape }: ReplyShape,
  { properties, required }: Pick<OwnFields, "properties" | "required"> = noFields,
): JsonObject {
  const decision = (fields: JsonObject): JsonObject =>
    closedObject({ ...properties, thought, ...fields }, [...required, "thought", ...Object.keys(fields)]);
  const thought = { type: "string", maxLength: longestThought };
  return objectReplies(
    { ...shape, output },
    {
      call: (name, args) => decision({ type: { const: "call_tool" }, tool: { const: name }, args }),
      answer: (answer) => decision({ type: { const: "final_answer" }, answer }),
    },
  );
}

/** The grammar of all decisions of this turn. */
export function decisionGrammar({ tools, mayAnswer, output = writtenAnswer }: ReplyShape): string {
  const thought = `${terminal('{"thought":')} "\\"" char{0,${longestThought}} "\\""`;
  return grammarFor([output, ...inputsOf(tools)], ([answer = "value", ...args]) => {
    const calls = objectCalls(tools, args, (name) => `,"type":"call_tool","tool":${name},"args":`);
    const final = `${terminal(',"type":"final_answer","answer":')} ${answer} "}"`;
    return `${thought} (${[...(calls === "" ? [] : [calls]), ...(mayAnswer ? [final] : [])].join(" | ")})`;
  });
}
