import type { Message, ReplyMessage, ReplyPart, SystemMessage, ToolCall } from "../message/message.ts";
import { callsOf, textOf } from "../message/message.ts";
import type { ReplyFormat, ToolDescription } from "../model/model.ts";
import { wireNames } from "../model/tool-names.ts";
import type { AllowList } from "../policy/allow-list.ts";
import { parseJson } from "../util/json.ts";
import { sameJson } from "../util/same-json.ts";
import type { Driver, Reading, TurnInput } from "./driver.ts";
import { answerFormat, heldToShape, shapeOf } from "./reply-shape.ts";

/**
 * Native function calling: tools go to the provider as tools, calls come back as calls. The system message lists the tools too, since a
 * model reads there what it may do; the list is description, the allow-list is what holds.
 *
 * An output schema binds the answer while it is written wherever it does not bind the calls too; elsewhere it is only checked afterwards.
 */
export const nativeDriver: Driver = {
  name: "native",
  passthrough: true,
  toolName: (wireName, allowed) => wireNames(allowed).fromWire(wireName),
  request(turn) {
    const { allowed, settings, toolChoice } = turn;
    const format = formatOf(turn);
    let messages: readonly Message[] | undefined;
    return {
      tools: describeTools(allowed),
      toolChoice:
        typeof toolChoice === "object" ? { tool: wireNames(allowed).toWire(toolChoice.tool) } : toolChoice,
      settings,
      ...(format === undefined ? {} : { format }),
      get messages() {
        return (messages ??= requestMessages(turn));
      },
    };
  },
  read: ({ message }, turn) => heldToShape(readMessage(message), turn),
  partialAnswer: (partial) => partial,
};

function formatOf(turn: TurnInput): ReplyFormat | undefined {
  if (turn.output === undefined) return undefined;
  const { tools, mayAnswer } = shapeOf(turn);
  const bindsOnlyAnswer = tools.length === 0 || turn.model.features.formatWithTools === true;
  return mayAnswer && bindsOnlyAnswer ? answerFormat(turn) : undefined;
}

function readMessage(message: ReplyMessage): Reading {
  const calls = callsOf(message);
  if (calls.length > 0) return { type: "calls", message: withoutLeak(message, calls) };
  const text = textOf(message);
  if (text.trim() !== "") return { type: "final", message, content: text };
  return {
    type: "violation",
    message: withPlaceholder(message),
    reason: "the reply was empty",
    feedback: emptyFeedback,
  };
}

/** Some models write the arguments of a call as text too. Such a text says nothing, and teaches the model to do it again. */
function withoutLeak(message: ReplyMessage, calls: readonly ToolCall[]): ReplyMessage {
  const isLeak = (part: ReplyPart): boolean => part.type === "text" && isLeaked(part.text, calls);
  return message.parts.some(isLeak)
    ? { ...message, parts: message.parts.filter((part) => !isLeak(part)) }
    : message;
}

function isLeaked(text: string, calls: readonly ToolCall[]): boolean {
  if (!/^\s*\{/.test(text)) return false;
  const parsed = parseJson(text);
  return parsed.ok && calls.some((call) => sameJson(call.arguments, parsed.value));
}

const emptyFeedback = "Your last reply was empty. Call a tool or answer in words.";

/** A reply that says nothing cannot stand in a transcript: providers refuse empty messages. */
function withPlaceholder(message: ReplyMessage): ReplyMessage {
  return { ...message, parts: [...message.parts, { type: "text", text: "(empty)" }] };
}

function requestMessages({ transcript, allowed }: TurnInput): readonly Message[] {
  const names = wireNames(allowed);
  const messages = transcript.since(0);
  const first = messages[0];
  if (first?.role === "system") {
    const listed = withToolList(first, allowed);
    if (listed.text === "") messages.shift(); // providers refuse an empty message
    else messages[0] = listed;
  }
  return names.identity ? messages : messages.map((message) => names.message(message));
}

const descriptions = new WeakMap<AllowList, readonly ToolDescription[]>();

/** The tools of a list as a provider is told of them; made once for each list. */
export function describeTools(allowed: AllowList): readonly ToolDescription[] {
  let tools = descriptions.get(allowed);
  if (tools === undefined) {
    const names = wireNames(allowed);
    tools = [...allowed.tools.values()].map(({ name, description, input }) => ({
      name: names.toWire(name),
      description,
      inputSchema: input.jsonSchema,
    }));
    descriptions.set(allowed, tools);
  }
  return tools;
}

const systemMessages = new WeakMap<SystemMessage, SystemMessage>();

function withToolList(system: SystemMessage, allowed: AllowList): SystemMessage {
  let listed = systemMessages.get(system);
  if (listed === undefined)
    systemMessages.set(system, (listed = { role: "system", text: listTools(system.text, allowed) }));
  return listed;
}

function listTools(text: string, allowed: AllowList): string {
  if (allowed.tools.size === 0) return text;
  const names = wireNames(allowed);
  const lines = [...allowed.tools.values()].map(
    (tool) => `- ${names.toWire(tool.name)}: ${tool.description}`,
  );
  return [text, `Available tools:\n${lines.join("\n")}`].filter((part) => part !== "").join("\n\n");
}
