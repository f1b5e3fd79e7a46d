import { checkArguments, checkShape } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import { fileText } from "../message/file-part.ts";
import {
  type FilePart,
  isAsked,
  type Message,
  type ReplyMessage,
  type SystemMessage,
  contentText,
  labelOf,
  labelOfAll,
} from "../message/message.ts";
import { readTranscript } from "../message/read-transcript.ts";
import { acceptableId, emptyTranscript, type ReadyTranscript } from "../message/transcript.ts";
import { joinLabels, type Label, labelledAs, trustedLabel } from "../message/label.ts";
import { messageShape } from "../message/message-shape.ts";
import { isCut, withCallIds } from "../tool/read-result.ts";
import { type Act, actsIn, actsMessage, isDeclared } from "../tool/acts.ts";
import { anything, fits, list, object } from "../util/shape.ts";
import type { SessionContents, SessionRun } from "./session-store.ts";
import { summaryMessage } from "./summary.ts";

/**
 * The part of a session that the next run is sent. `answers`: the question and the answer of each earlier run,
 * without its calls and their results. `all`: every message as it was. A function chooses
 * itself: a message of the session keeps its label, and any other is as untrusted as the whole session, and
 * nobody's choice.
 */
export type History = "answers" | "all" | ((contents: SessionContents) => readonly Message[]);

const contentsShape = object({ messages: list(anything), runs: list(anything) });

/**
 * The messages of a session that come before a new one: its summary, the messages that it was created with, and its runs. With `answers`, user and agent
 * alternate in the runs: a run without an answer has a short reply that says so. With `all`, a call id that an earlier run used is
 * replaced by another.
 *
 * @example
 * ```ts
 * import { inMemorySessions, session } from "writ";
 * import { historyOf } from "writ/session";
 *
 * export const lastTwoRuns = session(inMemorySessions(), "talk", {
 *   history: (contents) => historyOf({ ...contents, runs: contents.runs.slice(-2) }, "answers"),
 * });
 * ```
 */
export function historyOf(contents: SessionContents, history: History): readonly Message[] {
  checkArguments("historyOf()", { contents }, { contents: contentsShape });
  if (typeof history === "function") return chosenBy(history, contents);
  const { summary, summaryLabel, messages, runs } = contents;
  const known =
    summary === undefined
      ? []
      : [summaryMessage(summary, summaryLabel), said("I know what was said before.")];
  const before = [...known, ...messages];
  if (history === "answers") return [...before, ...runs.flatMap(answerOf)];
  return withOwnIds([before, ...runs.map((run) => [...run.messages, ...told(unseenActs(run))])]);
}

/**
 * The transcript of a run after these messages.
 *
 * @throws WritError `transcript-invalid` with the index of the message that may not stand at its place
 */
export function transcriptAfter(history: readonly Message[], system?: SystemMessage): ReadyTranscript {
  const messages = system === undefined ? history : [system, ...history];
  const transcript = readTranscript({ messages });
  if (transcript.state === "ready") return transcript;
  const reason = "has calls without a result";
  throw new WritError("transcript-invalid", { index: messages.length - 1, reason });
}

/** The messages that a function chooses. A message that it makes may contain anything that it read in the session. */
function chosenBy(history: Exclude<History, string>, contents: SessionContents): readonly Message[] {
  const { messages, runs, summaryLabel = trustedLabel } = contents;
  const own = [...messages, ...runs.flatMap((run) => run.messages)];
  const known = new Set(own.map((message) => JSON.stringify(message))); // before the function can change them
  const read = joinLabels(joinLabels(summaryLabel, labelOfAll(own)), madeByHistory);
  const chosen = history(contents);
  checkShape("What `history` of a session gave", chosen, messagesShape);
  return chosen.map((message) => {
    const isBroken = !fits(messageShape, message); // reported with its index when the transcript is read
    if (isBroken || message.role === "system" || known.has(JSON.stringify(message))) return message;
    return { ...message, label: joinLabels(labelOf(message), read) };
  });
}

/** A list: the messages are checked when the transcript is read, which reports each that does not fit. */
const messagesShape = list(anything, "a list of messages");

/** The label of a message with a source, so that it does not count as the user's words. */
const madeByHistory: Label = { ...trustedLabel, sources: ["history"] };

/** A run as a question and its answer. */
function answerOf(run: SessionRun): readonly Message[] {
  const { messages, outcome } = run;
  const asked = messages.find(isAsked);
  if (asked === undefined) return [];
  const reply = said(answerText(messages, outcome), filesOf(messages, outcome));
  return [asked, labelledAs(reply, labelOfAll(messages)), ...told(unspokenActs(run))];
}

/** Tells the acts of a run, as the runtime's words. Roles still alternate. */
function told(acts: readonly Act[]): readonly Message[] {
  const note = actsMessage(acts);
  return note === undefined ? [] : [note, said("I know what was done.")];
}

/** The acts that an answer does not tell: only those that their author declared to change something. */
function unspokenActs({
  outcome,
  messages,
  acts = actsIn(messages, () => "undeclared"),
}: SessionRun): readonly Act[] {
  return outcome.type === "answered" ? acts.filter(isDeclared) : acts;
}

/** The acts that compaction removed from the messages. It frees call ids, so ids alone identify nothing. */
function unseenActs({ messages, acts = [] }: SessionRun): readonly Act[] {
  const seen = new Set(actsIn(messages, () => "undeclared").map(nameOfAct));
  return acts.filter((act) => !seen.has(nameOfAct(act)));
}

function nameOfAct({ callId, tool, arguments: args, status, result }: Act): string {
  return JSON.stringify([callId, tool, args, status, result]);
}

const endings: Readonly<Record<Exclude<Outcome["type"], "answered">, string>> = {
  exhausted: "a bound of the run was used up",
  suspended: "the run was suspended",
  refused: "the run was refused",
  cancelled: "the run was cancelled",
  failed: "the run failed",
};

/**
 * The text of an answer, as it was given: hooks may have replaced what the model wrote. The reason for an end without an answer is not told, because such
 * texts come from anywhere.
 */
function answerText(messages: readonly Message[], outcome: Outcome): string {
  if (outcome.type !== "answered") return `(No answer: ${endings[outcome.type]}.)`;
  const text = contentText(outcome.content);
  if (text.trim() !== "") return text;
  return filesOf(messages, outcome).map(fileText).join(" ") || "(empty)";
}

function said(text: string, files: readonly FilePart[] = []): ReplyMessage {
  return { role: "assistant", parts: [{ type: "text", text }, ...files] };
}

/** The files of an answer. */
function filesOf(messages: readonly Message[], { type }: Outcome): readonly FilePart[] {
  const reply = messages.findLast((message) => message.role === "assistant");
  return type === "answered" ? (reply?.parts.filter((part) => part.type === "file") ?? []) : [];
}

/** All messages in one list. Call ids are unique within a run only; one that was used before is replaced, in the call and in its result. */
function withOwnIds(runs: readonly (readonly Message[])[]): readonly Message[] {
  const taken = new Set<string>();
  return runs.flatMap((messages, run) => {
    const ids = new Map<string, string>();
    return messages.map((message): Message => {
      if (message.role === "tool") {
        const { callId, text } = message;
        const now = isCut(message) ? { text: withCallIds(text, ids) } : {};
        return { ...message, callId: ids.get(callId) ?? callId, ...now };
      }
      if (message.role !== "assistant") return message;
      const parts = message.parts.map((part) => {
        if (part.type !== "tool-call" || part.providerExecuted === true) return part;
        const id = acceptableId(emptyTranscript(), part.id, {
          taken,
          fallback: `run_${run}_call_${ids.size}`,
        });
        taken.add(id);
        ids.set(part.id, id);
        return { ...part, id };
      });
      return { ...message, parts };
    });
  });
}
