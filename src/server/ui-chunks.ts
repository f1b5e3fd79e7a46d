import { boundText } from "./bound-text.ts";
import type { CallBeside } from "../durable/beside.ts";
import type { WaitingQuestion } from "../durable/run-store.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import {
  contentText,
  type FinishReason,
  type ReplyMessage,
  type ToolCall,
  type ToolResult,
} from "../message/message.ts";
import { argumentProblem } from "../tool/wrong-values.ts";
import type { Json } from "../util/json.ts";
import { plainJson } from "../util/plain-json.ts";
import { sameJson } from "../util/same-json.ts";
import { isTyped, type ShownTools, toolNote } from "./tool-pages.ts";

/** A chunk of the UI message stream of the AI SDK, version 1 (`uiMessageChunkSchema` of `ai` 7). */
export type UiChunk = { readonly type: string } & { readonly [field: string]: unknown };

type Writing = "text" | "reasoning";

/**
 * Makes the chunks of one assistant message from the events of a run. Text that a reader missed is filled in from the whole message; a message that starts
 * over replaces what was shown of it.
 */
export class UiChunks {
  private readonly shown: Record<Writing, string> = { text: "", reasoning: "" };
  private open: Writing | undefined;
  private count = 0;
  /** The calls of the message, each with the arguments that the page was shown; undefined for arguments that are being written, or are wrong. */
  private readonly calls = new Map<string, Json | undefined>();
  /** The answers of people to questions about calls. */
  private readonly answers = new Map<string, Told<"approval-answer">>();
  /** The parts of the current reply that are being written. */
  private readonly writing = new Set<string>();
  /** The calls of the last reply. */
  private reply: readonly string[] = [];
  private hasSteps = false;
  private readonly tools: ShownTools;

  /** `tools` are the agent's. */
  constructor(tools: ShownTools = new Map()) {
    this.tools = tools;
  }

  /** The chunks of an event; none for an event that a page does not show. */
  of(event: AgentEvent): readonly UiChunk[] {
    if (event.type === "turn-start") return this.step();
    if (event.type === "turn-end") return [{ type: "finish-step" }];
    if (event.type === "message-start") return this.isEmpty() ? [] : this.again();
    if (event.type === "text-delta") return this.write("text", event.text);
    if (event.type === "reasoning-delta") return this.write("reasoning", event.text);
    if (event.type === "call-delta") return this.call(event);
    if (event.type === "message-end") return event.message === undefined ? [] : this.message(event.message);
    if (event.type === "approval-answer") this.answers.set(event.callId, event);
    if (event.type === "tool-start") return this.begins(event);
    if (event.type === "tool-progress") return [progressOf(event)];
    if (event.type === "tool-end" || event.type === "knowledge-used")
      return this.endOfCall(event.callId, event.result);
    return event.type === "run-end" ? [...this.lastStep(event.outcome), ...endOf(event.outcome)] : [];
  }

  /** The chunks of calls that ended beside a question. */
  beside(calls: readonly CallBeside[]): readonly UiChunk[] {
    return calls.flatMap(({ place, result }) => {
      const callId = this.reply[place];
      return callId === undefined ? [] : this.endOfCall(callId, result);
    });
  }

  /**
   * The chunks of a question that the run waits for. The question of an agent inside gets a call of its own in the message, because the call of that agent
   * is not asked about.
   */
  question(question: WaitingQuestion, approvalId: string): readonly UiChunk[] {
    const { callId, tool, arguments: input, reason } = question.request;
    const isOwn = this.asksOfMessage(question);
    const toolCallId = isOwn ? callId : question.key;
    const call = { type: "tool-input-available", toolCallId, toolName: tool, input, dynamic: true };
    return [
      ...(isOwn ? this.shows(callId, tool, input) : [call]),
      { type: "tool-approval-request", approvalId, toolCallId, reason },
    ];
  }

  /** True for a question about a call of the message. The call of an agent inside is another call, which may have the same id. */
  asksOfMessage({ request: { callId, path } }: WaitingQuestion): boolean {
    return path.length === 1 && this.calls.has(callId);
  }

  private step(): UiChunk[] {
    this.hasSteps = true;
    return [{ type: "start-step" }];
  }

  /** The answer of a run without turns, such as plain skills and compositions of agents: only its end has the answer. */
  private lastStep(outcome: Outcome): readonly UiChunk[] {
    if (this.hasSteps || outcome.type !== "answered") return [];
    const text = contentText(outcome.content);
    return [...this.step(), ...this.write("text", text), ...this.close(), { type: "finish-step" }];
  }

  private isEmpty(): boolean {
    return this.shown.text === "" && this.shown.reasoning === "" && this.writing.size === 0;
  }

  private again(): UiChunk[] {
    this.shown.text = "";
    this.shown.reasoning = "";
    for (const callId of this.writing) this.calls.delete(callId);
    this.writing.clear();
    this.open = undefined;
    return [{ type: "reset-step" }];
  }

  private write(kind: Writing, delta: string): UiChunk[] {
    if (delta === "") return [];
    this.shown[kind] += delta;
    const begins = this.open === kind ? [] : [...this.close(), this.begin(kind)];
    return [...begins, { type: `${kind}-delta`, id: this.id(), delta }];
  }

  private begin(kind: Writing): UiChunk {
    this.open = kind;
    this.count += 1;
    return { type: `${kind}-start`, id: this.id() };
  }

  private close(): UiChunk[] {
    if (this.open === undefined) return [];
    const kind = this.open;
    this.open = undefined;
    return [{ type: `${kind}-end`, id: this.id() }];
  }

  private id(): string {
    return String(this.count);
  }

  private call({
    callId,
    name,
    text,
  }: {
    readonly callId: string;
    readonly name: string;
    readonly text: string;
  }): UiChunk[] {
    const delta = { type: "tool-input-delta", toolCallId: callId, inputTextDelta: text };
    if (this.calls.has(callId)) return [delta];
    this.calls.set(callId, undefined);
    this.writing.add(callId);
    return [
      ...this.close(),
      { type: "tool-input-start", toolCallId: callId, toolName: name, ...toolNote(this.tools.get(name)) },
      delta,
    ];
  }

  /** A call as its tool gets it, if it was shown otherwise: a hook or a person changed it. */
  private begins({ callId, name, arguments: args }: Told<"tool-start">): readonly UiChunk[] {
    const isKnown = this.calls.has(callId) || this.answers.get(callId)?.edited !== undefined;
    const { input } = this.read(name, args);
    return isKnown && input !== undefined ? this.shows(callId, name, input) : [];
  }

  /** Shows arguments that a page may use by the types of the tool, unless it was shown them. */
  private shows(callId: string, toolName: string, input: Json): UiChunk[] {
    if (sameJson(input, this.calls.get(callId))) return [];
    this.calls.set(callId, input);
    const note = toolNote(this.tools.get(toolName));
    return [{ type: "tool-input-available", toolCallId: callId, toolName, input, ...note }];
  }

  /** The arguments as the schema of a typed tool makes them, or what is wrong with them. Those of other tools are the model's. */
  private read(name: string, args: Json): { readonly input?: Json; readonly wrong?: string } {
    const tool = this.tools.get(name);
    const parsed = isTyped(tool) ? tool.input.parse(args) : undefined;
    if (tool === undefined || parsed === undefined || parsed instanceof Promise) return { input: args };
    if (!parsed.ok) return { wrong: argumentProblem(tool.input, args, parsed.issues) };
    const json = plainJson(parsed.value);
    return { input: json.ok ? json.value : args };
  }

  private endOfCall(toolCallId: string, result: ToolResult): readonly UiChunk[] {
    if (result.status !== "denied") return [endOfCall(toolCallId, result)];
    const denied = { type: "tool-output-denied", toolCallId };
    const answer = this.answers.get(toolCallId);
    if (answer !== undefined && !this.calls.has(toolCallId)) return [denied]; // the page has the question and its answer
    const { reason = result.text } = answer ?? {};
    return [
      { type: "tool-approval-request", approvalId: toolCallId, toolCallId, isAutomatic: true },
      { type: "tool-approval-response", approvalId: toolCallId, approved: false, reason },
      denied,
    ];
  }

  /** A call of a whole message. A page does not get wrong arguments as if they had the types of the tool. */
  private whole({ id: toolCallId, name: toolName, arguments: args, malformed }: ToolCall): UiChunk[] {
    this.calls.set(toolCallId, undefined);
    const { input, wrong } = malformed === undefined ? this.read(toolName, args) : { wrong: malformed };
    if (input !== undefined) return this.shows(toolCallId, toolName, input);
    const note = toolNote(this.tools.get(toolName));
    return [{ type: "tool-input-error", toolCallId, toolName, input: args, errorText: wrong, ...note }];
  }

  /** The rest of a whole message that was not shown yet. */
  private message({ parts }: ReplyMessage): UiChunk[] {
    const whole = (kind: Writing): string =>
      parts.flatMap((part) => (part.type === kind && "text" in part ? [part.text] : [])).join("");
    const calls = parts.filter((part) => part.type === "tool-call");
    this.reply = calls.map(({ id }) => id);
    const isAsShown =
      (["text", "reasoning"] as const).every((kind) => whole(kind).startsWith(this.shown[kind])) &&
      this.writing.isSubsetOf(new Set(this.reply));
    const chunks = isAsShown ? [] : this.again();
    for (const kind of ["reasoning", "text"] as const)
      chunks.push(...this.write(kind, whole(kind).slice(this.shown[kind].length)));
    chunks.push(...this.close());
    for (const call of calls) chunks.push(...this.whole(call));
    this.shown.text = "";
    this.shown.reasoning = "";
    this.writing.clear();
    return chunks;
  }
}

type Told<Type> = Extract<AgentEvent, { readonly type: Type }>;

/** A value that a tool reports meanwhile: for `onData` of the page alone, since no record keeps it. */
const progressOf = ({ callId, value }: Told<"tool-progress">): UiChunk => ({
  type: "data-progress",
  id: callId,
  data: { toolCallId: callId, value },
  transient: true,
});

function endOfCall(toolCallId: string, { status, text, value }: ToolResult): UiChunk {
  if (status === "ok") return { type: "tool-output-available", toolCallId, output: value ?? text };
  return { type: "tool-output-error", toolCallId, errorText: text };
}

const reasons: { readonly [Reason in FinishReason]?: string } = { pause: "other", error: "error" };

function endOf(outcome: Outcome): UiChunk[] {
  if (outcome.type === "answered") {
    const { finishReason } = outcome;
    return [{ type: "finish", finishReason: reasons[finishReason] ?? finishReason }];
  }
  if (outcome.type === "cancelled") return [{ type: "abort", reason: outcome.reason }];
  const errorText =
    outcome.type === "failed" || outcome.type === "refused"
      ? `${outcome.code}: ${outcome.message}`
      : boundText(outcome);
  return [
    { type: "error", errorText },
    { type: "finish", finishReason: "error" },
  ];
}
