import { type Message, type ReplyPart, textOf } from "../../message/message.ts";
import type { SessionRecord, SessionRun } from "../../session/session-store.ts";

/** A conversation as Markdown: the messages, the calls with their results, and the end of each run that did not answer. */
export function talkAsMarkdown({ id, summary, runs }: SessionRecord, agent: string): string {
  const before = summary === undefined ? [] : [`Before that, in short: ${summary}`];
  const pieces = [`# ${id}`, ...before, ...runs.flatMap((run) => runText(run, agent))];
  return (
    pieces
      .map((piece, index) => `${piece}\n${isItem(piece) && isItem(pieces[index + 1]) ? "" : "\n"}`)
      .join("")
      .trimEnd() + "\n"
  );
}

/** True for an item of a list, which continues line by line. */
function isItem(piece = ""): boolean {
  return piece.startsWith("- `") || piece.startsWith("- calls");
}

function runText({ messages, outcome }: SessionRun, agent: string): readonly string[] {
  const said = messages.flatMap((message) => messageText(message, agent));
  if (outcome.type === "answered") return said;
  const reason = "message" in outcome ? outcome.message : outcome.reason;
  return [...said, `*${outcome.type}: ${reason}*`];
}

function messageText(message: Message, agent: string): readonly string[] {
  if (message.role === "system") return [];
  if (message.role === "tool") return [`- \`${message.name}\` ${message.status}: ${quoted(message.text)}`];
  const text = textOf(message);
  if (message.role === "user") return message.by === "runtime" ? [] : [`## You`, text];
  return [...(text === "" ? [] : [`## ${agent}`, text]), ...message.parts.flatMap(callText)];
}

function callText(part: ReplyPart): readonly string[] {
  return part.type === "tool-call"
    ? [`- calls \`${part.name}\` with ${quoted(JSON.stringify(part.arguments))}`]
    : [];
}

/** Code within a line: between more backticks than the text has. */
function quoted(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${longest === 0 ? "" : " "}${text.replaceAll(/\s+/g, " ")}${longest === 0 ? "" : " "}${ticks}`;
}

/** The questions of a conversation, the latest first, for the arrow keys. */
export function questionsOf({ runs }: Pick<SessionRecord, "runs">): readonly string[] {
  return runs.flatMap(({ messages }) => askedIn(messages)).toReversed();
}

function askedIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === "user" && message.by === undefined ? [textOf(message)] : [],
  );
}
