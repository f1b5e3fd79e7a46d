import type { RunResult } from "../../src/agent/runnable.ts";
import {
  labelOf,
  callsOf,
  type Message,
  type ResultMessage,
  textOf,
  type ToolCall,
} from "../../src/message/message.ts";
import { joinLabels, type Label, trustedLabel } from "../../src/message/label.ts";
import type { Json } from "../../src/util/json.ts";
import { userWords } from "./hostile.ts";
import { type Faults, isNotHigher, risen } from "./checks.ts";
import type { Book } from "./record.ts";
import type { Scene } from "./scene.ts";

/** What the labels of a run say of what was said in it. */
export function labelFaults(book: Book, scene: Scene, result: RunResult<unknown> | undefined): Faults {
  const own = book.judged.filter(({ agent }) => agent === "fuzzed").map(({ label }) => label);
  const faults = risen(own, "what the policy was told");
  if (result === undefined) return faults;
  const { messages } = result.transcript;
  const seen = messages.reduce((sum: Label, message) => joinLabels(sum, labelOf(message)), trustedLabel);
  if (!isNotHigher(result.label, seen))
    faults.push(`the run's label ${JSON.stringify(result.label)} is better than what it saw`);
  return [...faults, ...resultFaults(messages, scene)];
}

interface Seen {
  readonly calls: Map<string, ToolCall>;
  /** Texts that may have been the user's choice. */
  readonly trusted: string[];
  /** The join of what came before, and of what came before the last reply. */
  seen: Label;
  before: Label;
}

/** A result after untrusted data is trusted only if its tool says so and the model was not free to choose what it was asked. */
function resultFaults(messages: readonly Message[], scene: Scene): Faults {
  const faults: Faults = [];
  const sight: Seen = {
    calls: new Map(),
    trusted: ["ada@example.com", userWords],
    seen: trustedLabel,
    before: trustedLabel,
  };
  for (const message of messages) {
    const label = labelOf(message);
    if (message.role === "assistant") {
      sight.before = sight.seen;
      for (const call of callsOf(message)) sight.calls.set(call.id, call);
      if (!isNotHigher(label, sight.before))
        faults.push(`a reply is better than what it was written after: ${JSON.stringify(label)}`);
    }
    if (label.integrity === "trusted") {
      if (message.role === "tool") {
        faults.push(...trustFaults(message, sight, scene));
        sight.trusted.push(message.text);
      }
      if (message.role === "user") sight.trusted.push(textOf(message));
    }
    // What the runtime says of turns that are gone stands before those that stay, and tells of calls in them too.
    if (message.role !== "user" || message.by !== "runtime") sight.seen = joinLabels(sight.seen, label);
  }
  return faults;
}

/** Why a trusted result should not be. */
function trustFaults(
  { name, callId, status }: ResultMessage,
  { calls, trusted, before }: Seen,
  { tools, names, hook, approve }: Scene,
): Faults {
  const spec = tools[names.indexOf(name)];
  if (status !== "ok" || spec === undefined || hook === "result" || hook === "odd") return [];
  const faults: Faults = [];
  const isOwn = spec.trusted ?? spec.effect === "none";
  if (!isOwn && spec.behaviour.do !== "trusted-label")
    faults.push(`the result of ${name} is trusted, and its tool is not`);
  // What a person put in the place of the model's arguments stands in no message.
  if (approve === "edit" || approve === "edit-odd") return faults;
  const args = calls.get(callId)?.arguments ?? null;
  if (before.integrity === "untrusted" && !isSaid(args, trusted))
    faults.push(`the result of ${name} is trusted, after untrusted data, for ${JSON.stringify(args)}`);
  return faults;
}

/** Whether each value stands in one of the texts: much weaker than being bound, and said without the code that binds. */
function isSaid(value: Json, texts: readonly string[]): boolean {
  if (typeof value === "object" && value !== null)
    return Object.values(value).every((each) => isSaid(each, texts));
  if (value === null || value === "") return true;
  const text = String(value).trim().toLowerCase();
  return texts.some((each) => each.toLowerCase().includes(text));
}
