import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import { labelOf } from "../message/label-of.ts";
import { isAsked, type Message, textOf, type ToolCall, callsOf } from "../message/message.ts";
import type { ValueType } from "../tool/parameters.ts";
import { isJsonObject, type Json } from "../util/json.ts";
import type { AllowList } from "./allow-list.ts";
import type { ToolUse } from "./constraints.ts";
import type { RunKnowledge } from "./decision.ts";
import type { Intent } from "./intent.ts";
import { type BoundValues, valuesIn } from "./values/bound-values.ts";
import { linksIn } from "./values/links.ts";

/** A text that is trusted; in one that is also bound stand choices of the user. */
interface Trusted {
  readonly text: string;
  readonly isBound: boolean;
  values?: BoundValues;
  links?: ReadonlySet<string>;
}

/**
 * What a run has learned from the messages so far: how far they can be trusted, and which trusted texts there are. The states of a run share one
 * list that only grows, so that a turn costs what it adds.
 */
export interface Learned {
  readonly label: Label;
  readonly texts: Trusted[];
  readonly length: number;
}

/** What is known before anything was said: the intent, and what the author vouches for. */
export function learnIntent({ text, constants }: Intent, label: Label = trustedLabel): Learned {
  const texts = [text, ...constants].map((each) => ({ text: each, isBound: true }));
  return { label, texts, length: texts.length };
}

/** What is known after these messages, which come after all others. `allowed` says which tools look up what the user chose. */
export function learn(before: Learned, messages: readonly Message[], allowed: AllowList): Learned {
  const calls = new Map<string, ToolCall>();
  return messages.reduce((learned, message) => {
    if (message.role === "assistant") for (const call of callsOf(message)) calls.set(call.id, call);
    return learnFrom(learned, message, { calls, allowed });
  }, before);
}

interface Said {
  readonly calls: ReadonlyMap<string, ToolCall>;
  readonly allowed: AllowList;
}

function learnFrom(before: Learned, message: Message, { calls, allowed }: Said): Learned {
  const own = labelOf(message);
  const label = joinLabels(before.label, own);
  const learned = label === before.label ? before : { ...before, label };
  if (own.integrity === "untrusted") return learned;
  if (message.role === "user" && isAsked(message))
    // what a model asked another one is trusted, and nobody's choice
    return withText(learned, { text: textOf(message), isBound: own.sources.length === 0 });
  if (message.role !== "tool" || message.status !== "ok") return learned;
  const call = calls.get(message.callId);
  const resolves = allowed.tools.get(message.name)?.resolves === true;
  const isBound = resolves && call !== undefined && isBoundIn(learned, call.arguments);
  return withText(learned, { text: writtenOut(message.value) ?? message.text, isBound });
}

/** The values of a structured result, each with the name of its field before it, as people write them; undefined for what is a text already. */
function writtenOut(value: Json | undefined): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const lines: string[] = [];
  function visit(part: Json, name: string): void {
    if (Array.isArray(part)) part.forEach((each: Json) => visit(each, name));
    else if (isJsonObject(part)) Object.entries(part).forEach(([key, each]) => visit(each, key));
    else if (typeof part !== "object") lines.push(`${name}: ${String(part)}`);
  }
  visit(value, "");
  return lines.join("\n");
}

/** A list that another state went on with is copied: two continuations never see each other. */
function withText({ label, texts, length }: Learned, text: Trusted): Learned {
  const own = texts.length === length ? texts : texts.slice(0, length);
  own.push(text);
  return { label, texts: own, length: length + 1 };
}

/** Whether each value in this is the user's own choice. */
export function isBoundIn(learned: Learned, value: Json, type?: ValueType): boolean {
  if (Array.isArray(value)) return value.every((each: Json) => isBoundIn(learned, each, type));
  if (isJsonObject(value)) return Object.values(value).every((each) => isBoundIn(learned, each, type));
  if (value === null || value === "") return true;
  for (let index = 0; index < learned.length; index += 1) {
    const text = learned.texts[index];
    if (text?.isBound === true && (text.values ??= valuesIn([text.text])).has(value, type)) return true;
  }
  return false;
}

function isKnownLinkIn({ texts, length }: Learned, url: string): boolean {
  for (let index = 0; index < length; index += 1) {
    const text = texts[index];
    if (text !== undefined && (text.links ??= new Set(linksIn(text.text))).has(url)) return true;
  }
  return false;
}

/** The label of what a model wrote: that of all it has seen, unless every value of it is the user's own choice. */
export function labelOfArguments(learned: Learned, args: Json): Label {
  if (learned.label === trustedLabel) return trustedLabel;
  return isBoundIn(learned, args) ? trustedLabel : learned.label;
}

/** What policies are told of the run around a call. */
export function knowing(intent: Intent, learned: Learned, uses: readonly ToolUse[] = []): RunKnowledge {
  return {
    intent,
    label: learned.label,
    isBound: (value, type) => isBoundIn(learned, value, type),
    isKnownLink: (url) => isKnownLinkIn(learned, url),
    calls: (name) => uses.find(({ tool }) => tool === name)?.calls ?? 0,
  };
}
