import type { Message, ReplyMessage, SystemMessage } from "../message/message.ts";
import { callsOf, textOf } from "../message/message.ts";
import type { ToolDescription } from "../model/model.ts";
import { wireNames } from "../model/tool-names.ts";
import type { AllowList } from "../policy/allow-list.ts";
import type { Driver, TurnInput } from "./driver.ts";

/**
 * Native function calling: tools go to the provider as tools, calls come back as calls. The system message lists the tools too, since a
 * model reads there what it may do; the list is description, the allow-list is what holds.
 */
export const nativeDriver: Driver = {
  name: "native",
  passthrough: true,
  toolName: (wireName, allowed) => wireNames(allowed).fromWire(wireName),
  request(turn) {
    const { allowed, settings, toolChoice } = turn;
    let messages: readonly Message[] | undefined;
    return {
      tools: describeTools(allowed),
      toolChoice:
        typeof toolChoice === "object" ? { tool: wireNames(allowed).toWire(toolChoice.tool) } : toolChoice,
      settings,
      get messages() {
        return (messages ??= requestMessages(turn));
      },
    };
  },
  read(reply) {
    const { message } = reply;
    if (callsOf(message).length > 0) return { type: "calls", message };
    const text = textOf(message);
    if (text.trim() !== "") return { type: "final", message, content: text };
    return {
      type: "violation",
      message: withPlaceholder(message),
      reason: "the reply was empty",
      feedback: emptyFeedback,
    };
  },
};

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
