import { isDeepStrictEqual } from "node:util";
import type { ReplyMessage, ToolCall } from "../../message/message.ts";
import { copyOfPlain } from "../../util/json.ts";
import type { AguiCall, AguiEvent, AguiMessage } from "./messages.ts";

type Writing = "text" | "reasoning";

/** One reply of the model as a page is shown it: a message with its calls, and a message for each stretch of thoughts. */
export class ShownReply {
  private readonly id: string;
  private readonly prefix: string;
  private readonly messages: AguiMessage[];
  private said: AguiMessage | undefined;
  private readonly thoughts: AguiMessage[] = [];
  /** The number of stretches of thoughts since the reply began, or began anew. */
  private count = 0;
  private open: Writing | undefined;
  private readonly openCalls = new Set<string>();

  /** `messages` are the messages of the page; this reply changes them. */
  constructor(prefix: string, turn: number, messages: AguiMessage[]) {
    this.prefix = prefix;
    this.id = `${prefix}turn-${turn}`;
    this.messages = messages;
  }

  get isBlank(): boolean {
    return this.shown("text") === "" && this.shown("reasoning") === "" && this.calls.length === 0;
  }

  write(kind: Writing, delta: string): AguiEvent[] {
    if (delta === "") return [];
    const begins = this.open === kind ? [] : [...this.close(), ...this.begin(kind)];
    const message = kind === "text" ? this.message() : this.thought();
    message.content = `${textOf(message)}${delta}`;
    const type = kind === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    return [...begins, { type, messageId: message.id, delta }];
  }

  /** A piece of a call as the model writes it. */
  call(callId: string, name: string, text: string): AguiEvent[] {
    const toolCallId = this.prefix + callId;
    const delta = { type: "TOOL_CALL_ARGS", toolCallId, delta: text };
    const known = this.calls.find(({ id }) => id === toolCallId);
    if (known !== undefined) {
      known.function.arguments += text;
      return [delta];
    }
    const begins = this.closeWriting();
    const message = this.message();
    const call: AguiCall = { id: toolCallId, type: "function", function: { name, arguments: text } };
    message.toolCalls = [...this.calls, call];
    this.openCalls.add(toolCallId);
    const start = {
      type: "TOOL_CALL_START",
      toolCallId,
      toolCallName: name,
      parentMessageId: message.id,
    };
    return [...begins, start, ...(text === "" ? [] : [delta])];
  }

  /** The rest of a reply that is whole now; all of it again, if it differs from what was shown. */
  whole({ parts }: ReplyMessage): AguiEvent[] {
    const text = (kind: Writing): string =>
      parts.flatMap((part) => (part.type === kind && "text" in part ? [part.text] : [])).join("");
    const calls = parts.filter((part) => part.type === "tool-call");
    const isAsShown =
      text("text").startsWith(this.shown("text")) &&
      text("reasoning").startsWith(this.shown("reasoning")) &&
      this.calls.every((shown) => calls.some((call) => this.isSame(shown, call)));
    const events = isAsShown ? [] : this.takeBack();
    for (const kind of ["reasoning", "text"] as const)
      events.push(...this.write(kind, text(kind).slice(this.shown(kind).length)));
    const known = new Set(this.calls.map(({ id }) => id));
    for (const call of calls)
      if (!known.has(this.prefix + call.id))
        events.push(...this.call(call.id, call.name, argumentsOf(call)), ...this.close());
    return [...events, ...this.close()];
  }

  /** Takes back what was shown. Its messages stay, empty: a page keeps thoughts that a snapshot leaves out. */
  takeBack(): AguiEvent[] {
    const events = this.close();
    for (const thought of this.thoughts) thought.content = "";
    this.count = 0;
    if (this.said !== undefined) {
      if (this.said.content !== undefined) this.said.content = "";
      this.said.toolCalls = [];
    }
    return [...events, snapshotOf(this.messages)];
  }

  close(): AguiEvent[] {
    const events = this.closeWriting();
    for (const toolCallId of this.openCalls) events.push({ type: "TOOL_CALL_END", toolCallId });
    this.openCalls.clear();
    return events;
  }

  private closeWriting(): AguiEvent[] {
    const { open } = this;
    this.open = undefined;
    if (open === "text") return [{ type: "TEXT_MESSAGE_END", messageId: this.message().id }];
    if (open === undefined) return [];
    const messageId = this.thought().id;
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  private begin(kind: Writing): AguiEvent[] {
    this.open = kind;
    if (kind === "text")
      return [{ type: "TEXT_MESSAGE_START", messageId: this.message().id, role: "assistant" }];
    this.count += 1;
    const messageId = this.thought().id;
    return [
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    ];
  }

  private message(): AguiMessage {
    return (this.said ??= this.added({ id: this.id, role: "assistant" }));
  }

  /** The message of the current thoughts. */
  private thought(): AguiMessage {
    const known = this.thoughts[this.count - 1];
    if (known !== undefined) return known;
    const thought = this.added({ id: `${this.id}-thought-${this.count}`, role: "reasoning", content: "" });
    this.thoughts.push(thought);
    return thought;
  }

  private added(message: AguiMessage): AguiMessage {
    this.messages.push(message);
    return message;
  }

  private get calls(): readonly AguiCall[] {
    return this.said?.toolCalls ?? [];
  }

  private shown(kind: Writing): string {
    const messages = kind === "text" ? [this.said] : this.thoughts;
    return messages.map((message) => (message === undefined ? "" : textOf(message))).join("");
  }

  private isSame({ id, function: { name, arguments: text } }: AguiCall, call: ToolCall): boolean {
    if (id !== this.prefix + call.id || name !== call.name) return false;
    return call.malformed === undefined
      ? isDeepStrictEqual(parsed(text), call.arguments)
      : text === call.arguments;
  }
}

const textOf = ({ content }: AguiMessage): string => (typeof content === "string" ? content : "");

/** The arguments of a call as text; as the model wrote them, if they are not JSON. */
function argumentsOf({ malformed, arguments: args }: ToolCall): string {
  return malformed !== undefined && typeof args === "string" ? args : JSON.stringify(args);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An event with all messages that a page is to have. */
export function snapshotOf(messages: readonly AguiMessage[]): AguiEvent {
  return { type: "MESSAGES_SNAPSHOT", messages: copyOfPlain(messages) };
}
