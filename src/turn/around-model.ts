import { messageOf, WritError } from "../error/writ-error.ts";
import type { RunEvent } from "../event/event.ts";
import { tellHooks } from "../hook/consult.ts";
import { askHooks } from "../hook/run-hooks.ts";
import { joinLabels, labelledAs } from "../message/label.ts";
import { labelOfReply, type Message, type ReplyMessage, textOf } from "../message/message.ts";
import { readTranscript } from "../message/read-transcript.ts";
import { acceptableId, type ReadyTranscript } from "../message/transcript.ts";
import type { ModelRequest } from "../model/model.ts";
import type { Json } from "../util/json.ts";
import type { ModelQuestion, ModelRecord } from "./ask-model.ts";
import { noUsage } from "../message/usage.ts";
import type { Run } from "./state.ts";
import { withinTokens } from "./paid-model.ts";

/** A model call with hooks around it. `note` receives the facts told of it, which its record keeps too. */
export interface HookedCall {
  readonly turn: number;
  readonly transcript: ReadyTranscript;
  readonly run: Run;
  readonly note: (fact: RunEvent) => void;
  /** The key of its step. Left out if no journal keeps it. */
  readonly key?: string;
}

/**
 * Has the author's hooks change a request. The request stays valid for providers, and within the budget.
 *
 * @throws WritError `hook-failed`, `hook-field-forbidden`
 */
export async function changeRequest(
  request: ModelRequest,
  { turn, run, note }: HookedCall,
): Promise<ModelRequest> {
  const place = "beforeModel";
  const messages = [...request.messages];
  const { settings, toolChoice } = request;
  const at = { turn, messages, settings, toolChoice };
  const { answer, by } = await askHooks(run.hooks.beforeModel ?? [], place, at);
  if (Object.keys(answer).length === 0) return request;
  const wrong = wrongRequest(answer, { ...request, messages });
  if (wrong !== undefined) {
    const { field, reason } = wrong;
    throw new WritError("hook-failed", {
      hook: by[field] ?? place,
      place,
      reason: `\`${field}\`: ${reason}`,
    });
  }
  tellHooks({ turn, place, by }, { tell: note });
  // A hook cannot allow more tokens to write than the budget has left.
  const isBounded = Math.min(run.limits.tokens, run.limits.costUsd) !== Infinity;
  const left = isBounded ? (settings.maxOutputTokens ?? Infinity) : Infinity;
  const within = withinTokens(answer.settings ?? settings, left);
  const changed = { ...request, messages, ...answer, settings: within };
  if (request.prompt === undefined || answer.messages === undefined) return changed;
  return { ...changed, prompt: promptAfter(answer.messages, { ...request, messages }) };
}

/** The continued prompt for a hook's changed messages. Undefined if only the messages themselves can say them. */
function promptAfter(
  given: readonly Message[],
  { prompt, messages }: Pick<ModelRequest, "prompt" | "messages">,
): string | undefined {
  return textAlone(messages) === prompt ? textAlone(given) : undefined;
}

function textAlone([only, ...others]: readonly Message[]): string | undefined {
  return only?.role === "user" && others.length === 0 ? textOf(only) : undefined;
}

function wrongRequest(
  { messages, toolChoice }: Partial<Pick<ModelRequest, "messages" | "toolChoice">>,
  request: ModelRequest,
): { readonly field: string; readonly reason: string } | undefined {
  const isRefused = messages !== undefined && complaint(request.messages) === undefined;
  const reason = isRefused ? complaint(messages) : undefined;
  if (reason !== undefined) return { field: "messages", reason };
  const callable = request.callable ?? request.tools.map(({ name }) => name);
  if (toolChoice === "required" && callable.length === 0)
    return { field: "toolChoice", reason: "no tool is offered in this request" };
  if (typeof toolChoice !== "object" || callable.includes(toolChoice.tool)) return undefined;
  return { field: "toolChoice", reason: `the tool "${toolChoice.tool}" is not offered in this request` };
}

/**
 * The reason why no provider would take these messages. Messages of drivers that speak in plain text are not
 * checked: their results need no calls.
 */
function complaint(messages: readonly Message[]): string | undefined {
  try {
    if (readTranscript({ messages }).state === "open") return "a call has no result";
  } catch (error) {
    return messageOf(error);
  }
  return messages.every(({ role }) => role === "system")
    ? "nothing is left that the model could answer"
    : undefined;
}

/** Has the author's hooks change a reply. Its calls get unique ids. */
export async function changeReply(
  record: ModelRecord,
  { turn, transcript, run, note }: HookedCall,
): Promise<ModelRecord> {
  const { message, finishReason, usage } = record;
  const at = { turn, message, finishReason, usage };
  const { answer, by } = await askHooks(run.hooks.afterModel ?? [], "afterModel", at);
  tellHooks({ turn, place: "afterModel", by }, { tell: note });
  if (answer.message === undefined) return record;
  const changed = withIds(answer.message, { turn, transcript });
  const label = joinLabels(labelOfReply(changed), labelOfReply(message)); // the hook has seen the original reply
  return { ...record, message: labelledAs(changed, label) };
}

/** The reply with unique ids for its calls. */
export function withIds(
  { parts, ...rest }: ReplyMessage,
  { turn, transcript }: Pick<HookedCall, "turn" | "transcript">,
): ReplyMessage {
  const taken = new Set<string>();
  const spoken = parts.filter((part) => part.type !== "text" || part.text !== ""); // providers refuse empty text
  const named = spoken.map((part) => {
    if (part.type !== "tool-call") return part;
    const id = acceptableId(transcript, part.id, { taken, fallback: `call_${turn}_${taken.size}` });
    taken.add(id);
    return { ...part, id };
  });
  return { ...rest, parts: named };
}

/**
 * The message in the transcript for a hook's answer in place of the model. It is never empty, because providers refuse an
 * empty one.
 */
export function replyOf(answer: Json): ReplyMessage {
  const text = typeof answer === "string" ? answer : JSON.stringify(answer);
  return { role: "assistant", parts: [{ type: "text", text: text.trim() === "" ? "(empty)" : text }] };
}

export type AnswerInstead = NonNullable<ModelRecord["answer"]>;

/** The record of an answer that a hook gave in place of a model. */
export function hookAnswer(
  answer: AnswerInstead,
  { drivers, host }: Pick<ModelQuestion, "drivers" | "host">,
): ModelRecord {
  const now = host.now();
  return {
    driver: drivers[0]?.name ?? "hook",
    message: replyOf(answer.content),
    finishReason: "stop",
    usage: noUsage,
    startedAt: now,
    endedAt: now,
    answer,
  };
}
