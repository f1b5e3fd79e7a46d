import { checkArguments } from "../error/check-shape.ts";
import { type Label } from "../message/label.ts";
import { labelOf, type ResultStatus } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { Json } from "../util/json.ts";
import { object, oneOf, string } from "../util/shape.ts";
import type { AgentEvent } from "./event.ts";
import type { Outcome } from "./outcome.ts";

/**
 * The detail of messages for a user interface. `minimal`: status, the text of the reply, questions to a person. `standard`: also steps, tools, progress and
 * runs inside. `debug`: also arguments, results, thoughts, and every other event as it is.
 */
export type UiDetail = "minimal" | "standard" | "debug";

/** The content of a message that shows an event. */
export type UiContent =
  | { readonly type: "status"; readonly status: "running"; readonly agent: string }
  | {
      readonly type: "status";
      readonly status: Outcome["type"];
      /** The reason why there is no answer. Of a failure it is the code; `debug` has its words too, which may be those of a provider. */
      readonly reason?: string;
      readonly usage: Usage;
    }
  /** A piece of the reply. Pieces of a reply that is followed by calls are not an answer. */
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "approval-needed";
      readonly callId: string;
      readonly name: string;
      readonly request: ApprovalRequest;
    }
  | {
      readonly type: "approval-answered";
      readonly callId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | { readonly type: "step-started"; readonly step: number }
  | { readonly type: "step-ended"; readonly step: number }
  | {
      readonly type: "tool-started";
      readonly callId: string;
      readonly name: string;
      readonly arguments?: Json;
    }
  | {
      readonly type: "tool-ended";
      readonly callId: string;
      readonly name: string;
      readonly status: ResultStatus;
      readonly durationMs: number;
      /** The label of the result: its sources, and the people who may see it. */
      readonly label: Label;
      readonly text?: string;
    }
  | { readonly type: "progress"; readonly callId: string; readonly value: Json }
  | { readonly type: "waiting"; readonly reason: string }
  | { readonly type: "thought"; readonly text: string }
  | { readonly type: "event"; readonly event: AgentEvent };

/** A message for a user interface: its content, and the run that it belongs to. JSON. */
export type UiMessage = UiContent & {
  readonly runId: string;
  readonly parentRunId?: string;
  /** The number of the last fact up to here. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/**
 * Makes the message that a user interface needs for an event; undefined if it needs none. Messages are JSON and can be sent as they are: by
 * server-sent events, a socket, or as lines. Texts in them come from models, tools and strangers: a page must show them as text, never as markup.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { uiMessage } from "writ/doors";
 *
 * const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b" });
 * for await (const event of clerk.stream("What is new?")) {
 *   const message = uiMessage(event, "standard");
 *   if (message !== undefined) console.log(`data: ${JSON.stringify(message)}\n`);
 * }
 * ```
 */
export function uiMessage(event: AgentEvent, detail: UiDetail = "standard"): UiMessage | undefined {
  checkArguments("uiMessage()", { event, detail }, { event: eventShape, detail: detailShape });
  const { runId, parentRunId, seq, at } = event;
  const content =
    essential(event, detail === "debug") ??
    (detail === "minimal" ? undefined : working(event, detail === "debug")) ??
    (detail === "debug" ? inFull(event) : undefined);
  if (content === undefined) return undefined;
  return { ...content, runId, ...(parentRunId === undefined ? {} : { parentRunId }), seq, at };
}

const eventShape = object({ type: string, runId: string }, "an event of a run");
const detailShape = oneOf("minimal", "standard", "debug");

/** Messages that every interface shows. */
function essential(event: AgentEvent, isWhole: boolean): UiContent | undefined {
  if (event.type === "run-start") return { type: "status", status: "running", agent: event.agent };
  if (event.type === "run-end") {
    const { outcome, usage } = event;
    const reason = reasonOf(outcome, isWhole);
    return { type: "status", status: outcome.type, ...(reason === undefined ? {} : { reason }), usage };
  }
  if (event.type === "text-delta") return { type: "text", text: event.text };
  if (event.type === "approval-request") {
    const { callId, name, request } = event;
    return { type: "approval-needed", callId, name, request };
  }
  if (event.type !== "approval-answer") return undefined;
  const { callId, approved, reason } = event;
  return { type: "approval-answered", callId, approved, ...(reason === undefined ? {} : { reason }) };
}

/** The messages about work under way. `isWhole`: with arguments and results. */
function working(event: AgentEvent, isWhole: boolean): UiContent | undefined {
  if (event.type === "turn-start") return { type: "step-started", step: event.turn };
  if (event.type === "turn-end") return { type: "step-ended", step: event.turn };
  if (event.type === "tool-start") {
    const { callId, name, arguments: args } = event;
    return { type: "tool-started", callId, name, ...(isWhole ? { arguments: args } : {}) };
  }
  if (event.type === "tool-end" || event.type === "knowledge-used") return toolEnded(event, isWhole);
  if (event.type === "tool-progress") return { type: "progress", callId: event.callId, value: event.value };
  if (event.type !== "retry-start") return undefined;
  return { type: "waiting", reason: isWhole ? event.reason : "the model is asked again" };
}

function reasonOf(outcome: Outcome, isWhole: boolean): string | undefined {
  if (outcome.type === "failed") return isWhole ? `${outcome.code}: ${outcome.message}` : outcome.code;
  return "message" in outcome ? outcome.message : "reason" in outcome ? outcome.reason : undefined;
}

function toolEnded(
  { callId, name, result, durationMs }: Extract<AgentEvent, { readonly type: "tool-end" | "knowledge-used" }>,
  isWhole: boolean,
): UiContent {
  const { status, text } = result;
  const label = labelOf({ ...result, role: "tool", callId, name });
  return { type: "tool-ended", callId, name, status, durationMs, label, ...(isWhole ? { text } : {}) };
}

function inFull(event: AgentEvent): UiContent {
  return event.type === "reasoning-delta" ? { type: "thought", text: event.text } : { type: "event", event };
}
