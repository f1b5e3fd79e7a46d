import { asSentence } from "../util/as-sentence.ts";
import { type Message, type ReplyMessage, type ToolCall, callsOf, textOf } from "../message/message.ts";
import type { Reply } from "../model/assemble.ts";
import type { ModelRequest, ReplyFormat } from "../model/model.ts";
import { type WireNames, wireNames } from "../model/tool-names.ts";
import { type AllowList, offeredTools, toldFirst, toldTools } from "../policy/allow-list.ts";
import type { Tool } from "../tool/tool.ts";
import { parseJson } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import { sameJson } from "../util/same-json.ts";
import type { Writing } from "../util/writing.ts";
import { isQuoted } from "./copied-calls.ts";
import type { Driver, Reading, TurnInput } from "./driver.ts";
import { type Caller, callerFor } from "./late-tools.ts";
import { matchTool } from "./match-tool.ts";
import type { KnownTool, Recognition } from "./recognise/recognise.ts";
import { recogniser } from "./recognise/recogniser.ts";
import { answerFormat, heldToShape, shapeOf } from "./reply-shape.ts";
import { untaggedText } from "./recognise/visible-text.ts";
import { withoutThinking } from "./thinking.ts";

/**
 * Native function calling: tools go to the provider as tools only, and calls come back as calls. A tool that a run was told of stays in
 * its requests after a call removed it, so that they begin alike; a call of it is refused.
 *
 * A reply without calls whose whole text is calls in a model's own tags is read as these calls, also of tools that do not exist, and is not shown while it is
 * written. The event `message-end` reports it as a repair. Calls that occur word for word in an earlier message are an answer. Blocks of thinking in the text
 * become reasoning.
 *
 * An output schema binds the answer while it is written, unless it would bind the calls too; then it is only checked afterwards.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { type Driver, nativeDriver } from "writ/drivers";
 *
 * const spoken: Driver = { ...nativeDriver, maxViolations: 1 }; // an empty reply ends the run
 * export const brief = agent({ name: "brief", model: () => "Yes.", driver: spoken });
 * ```
 */
export const nativeDriver: Driver = {
  name: "native",
  passthrough: true,
  toolName(wireName, allowed) {
    const name = wireName.trim();
    const { tools, before = tools } = allowed;
    if (tools.has(name)) return name;
    const known = wireNames(allowed).fromWire(name);
    return before.has(known) ? known : matchTool(known, allowed);
  },
  request(turn) {
    const { settings, toolChoice } = turn;
    const format = formatOf(turn);
    const described = toldIn(turn);
    const { tools, callable } = described.told;
    const choice =
      typeof toolChoice === "object" ? { tool: wireName(toolChoice.tool, described) } : toolChoice;
    const request: Writing<ModelRequest> = {
      messages: requestMessages(turn, described),
      tools,
      toolChoice: callable?.length === 0 ? "none" : choice,
      settings,
    };
    if (callable !== undefined) request.callable = callable;
    if (format !== undefined) request.format = format;
    return request;
  },
  read(reply, turn) {
    const mayThink = /think|THINK/.test(textOf(reply.message));
    const reading = readMessage(mayThink ? withoutThinking(reply) : reply, turn);
    return turn.toolChoice === "auto" ? reading : heldToShape(reading, turn);
  },
  visibleText: untaggedText,
  partialAnswer: (partial) => partial,
};

function formatOf(turn: TurnInput): ReplyFormat | undefined {
  if (turn.output === undefined) return undefined;
  const { tools, mayAnswer } = shapeOf(turn);
  const bindsOnlyAnswer = tools.length === 0 || turn.model.features.formatWithTools === true;
  return mayAnswer && bindsOnlyAnswer ? answerFormat(turn) : undefined;
}

function readMessage({ message, finishReason }: Reply, turn: TurnInput): Reading {
  const calls = callsOf(message);
  if (calls.length > 0) return { type: "calls", message: withoutLeak(message, calls) };
  if (finishReason === "pause" && message.parts.length > 0) return { type: "pending", message };
  const text = textOf(message);
  const mayCall = finishReason !== "length" && /^\s*[<[]/.test(text);
  const unparsed = mayCall ? unparsedCalls(text, turn) : undefined;
  if (typeof unparsed === "string")
    return { type: "violation", message, reason: unparsed, feedback: refusedFeedback(unparsed) };
  if (unparsed !== undefined) {
    const others = message.parts.filter(({ type }) => type !== "text");
    return {
      type: "calls",
      message: { ...message, parts: [...others, ...unparsed] },
      repairs: [unparsedText],
    };
  }
  const isSaid = text.trim() !== "" || message.parts.some(({ type }) => type === "file");
  if (isSaid) return { type: "final", message, content: text };
  return {
    type: "violation",
    message: withPlaceholder(message),
    reason: "the reply was empty",
    feedback: emptyFeedback,
  };
}

/**
 * Calls in the tags that a model was trained on, if the provider did not read them, because its parser does not fit the model. Only
 * a reply that consists of such calls counts, and no call that occurs in an earlier message, so that an answer that quotes one
 * stays an answer. Undefined if there are none; the reason where an object of them has a key twice.
 */
function unparsedCalls(text: string, turn: TurnInput): readonly ToolCall[] | string | undefined {
  const { allowed, model } = turn;
  if (allowed.tools.size === 0) return undefined;
  const names = wireNames(allowed, model.features.toolNames);
  const known = [...allowed.tools.values()].map(({ name, input }) => ({
    name: names.toWire(name),
    inputSchema: input.jsonSchema,
  }));
  const { calls, refused, layer } = readTagged(text, known);
  const repeated = refused.find(({ twice }) => twice !== undefined);
  if ((calls.length === 0 && repeated === undefined) || layer !== "tagged" || isQuoted(text, turn))
    return undefined;
  if (repeated !== undefined) return `in the call of "${repeated.name}": ${repeated.reason}`;
  return calls.map(({ name, arguments: args }) => {
    return { type: "tool-call", id: "", name: names.fromWire(name), arguments: args };
  });
}

/** Reads calls, also of tools that there are not: the model is told so where they are judged. */
function readTagged(text: string, known: readonly KnownTool[]): Recognition {
  const found = recogniser(known, "strict").read(text);
  const names = new Set(known.map(({ name }) => name));
  const others = found.refused.map(({ name }) => name).filter((name) => !names.has(name));
  if (others.length === 0) return found;
  const unknown = [...new Set(others)].map((name) => ({ name, inputSchema: {} }));
  return recogniser([...known, ...unknown], "strict").read(text);
}

const unparsedText = "the provider gave the calls as text: they were read from their tags";

/** The reply without a text that only repeats the arguments of a call. Such a text says nothing, and teaches the model to do it again. */
function withoutLeak(message: ReplyMessage, calls: readonly ToolCall[]): ReplyMessage {
  if (calls.length === message.parts.length) return message;
  const parts = message.parts.filter((part) => part.type !== "text" || !isLeaked(part.text, calls));
  return parts.length === message.parts.length ? message : { ...message, parts };
}

function isLeaked(text: string, calls: readonly ToolCall[]): boolean {
  if (!/^\s*\{/.test(text)) return false;
  const parsed = parseJson(text);
  return parsed.ok && calls.some((call) => sameJson(call.arguments, parsed.value));
}

function refusedFeedback(reason: string): string {
  return `Your last reply was not accepted: ${asSentence(reason)} Call the tool again, with each key once.`;
}

const emptyFeedback = "Your last reply was empty. Call a tool or answer in words.";

/** The reply with a placeholder if it says nothing: providers refuse empty messages. */
function withPlaceholder(message: ReplyMessage): ReplyMessage {
  return { ...message, parts: [...message.parts, { type: "text", text: "(empty)" }] };
}

/** The one tool through which the model of a turn calls tools that it was told of later; undefined if each is called by its name. */
export function callerIn(turn: TurnInput): Caller | undefined {
  return turn.model.features.fixedTools === true ? toldIn(turn).caller : undefined;
}

function requestMessages({ transcript }: TurnInput, { names, caller }: Ways): readonly Message[] {
  const messages = transcript.since(0);
  const first = messages[0];
  if (first?.role === "system" && first.text === "") messages.shift(); // providers refuse an empty message
  const told = caller === undefined ? messages : messages.map((message) => caller.toWire(message));
  return names.identity ? told : told.map((message) => names.message(message));
}

/** A rule that accepts no names beyond those that every provider takes. */
const noNames = /(?!)/;

/** The names of tools as a provider knows them, and the tool through which it calls some of them. */
interface Ways {
  readonly names: WireNames;
  readonly caller?: Caller;
}

/** The tools as they are described to a provider, and those that may be called. */
interface Described extends Ways {
  readonly told: Pick<ModelRequest, "tools" | "callable">;
}

function wireName(tool: string, { names, caller }: Ways): string {
  return caller?.calls(tool) === true ? caller.description.name : names.toWire(tool);
}

function toldIn({ allowed, model: { features } }: TurnInput): Described {
  const describe = features.fixedTools === true ? fixed : growing;
  return describe(allowed)(features.toolNames ?? noNames);
}

/** The described tools of a list, in the order of telling, made once for each. Depends on: the tools; the names that the provider takes. */
const growing = remembered((allowed: AllowList) =>
  remembered((accepted: RegExp) =>
    describedAs(toldTools(allowed), offeredTools(allowed), { names: wireNames(allowed, accepted) }),
  ),
);

/** The tools that were described when the run began, and the one through which others are called. Depends on: the same. */
const fixed = remembered((allowed: AllowList) =>
  remembered((accepted: RegExp) => {
    const names = wireNames(allowed, accepted);
    const ways = { names, caller: callerFor(allowed, names) };
    return describedAs(toldFirst(allowed), [...allowed.tools.values()], ways);
  }),
);

function describedAs(told: readonly Tool[], mayCall: readonly Tool[], ways: Ways): Described {
  const { caller } = ways;
  const described = told.map(({ name, description, input, providerOptions }) => ({
    name: wireName(name, ways),
    description,
    inputSchema: input.jsonSchema,
    ...(providerOptions && { providerOptions }),
  }));
  const tools = caller === undefined ? described : [...described, caller.description];
  const callable = new Set(mayCall.map(({ name }) => wireName(name, ways)));
  const isWhole = tools.every(({ name }) => callable.has(name));
  return { ...ways, told: isWhole ? { tools } : { tools, callable: [...callable] } };
}
