import { type Message, textOf } from "../message/message.ts";
import type { Reply } from "../model/assemble.ts";
import type { AllowList } from "../policy/allow-list.ts";
import { isJsonList, parseJson } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import type { TurnInput } from "./driver.ts";
import { cursorOf } from "./recognise/cursor.ts";
import { knownTools } from "./recognise/known-tools.ts";
import { type Group, layers } from "./recognise/layers.ts";
import { marks } from "./recognise/tagged.ts";

/**
 * The name of the tool whose result contains a call of the reply word for word, apart from blanks, quotes, escapes and the tags around it. The content of
 * results is not trusted: a model that shows a page or a file must not make the calls written there. Undefined if there is none.
 */
export function copiedFrom({ message }: Reply, { transcript, allowed }: TurnInput): string | undefined {
  const results = transcript.messages.filter(({ role }) => role === "tool");
  if (results.length === 0) return undefined;
  const written = writtenCalls(textOf(message), allowed);
  const source = results.find((result) => holds(result, written));
  return source?.role === "tool" ? source.name : undefined;
}

/** True if a call in the text occurs word for word in anything that the model has read or was told. */
export function isQuoted(text: string, { transcript, allowed }: TurnInput): boolean {
  const written = writtenCalls(text, allowed);
  return transcript.messages.some(({ role }, index, messages) => {
    const message = messages[index];
    return (role === "tool" || role === "user") && message !== undefined && holds(message, written);
  });
}

// Depends on: the tools.
const knownIn = remembered(({ tools }: AllowList) => knownTools([...tools.values()]));

/** The calls as they are written in a text, without the text around them: the whole text if they have no known format. */
function writtenCalls(text: string, allowed: AllowList): readonly string[] {
  const tools = knownIn(allowed);
  const cursor = cursorOf(text);
  const commands = text.match(bareCommand) ?? [];
  for (const [, read] of layers) {
    cursor.at = 0;
    const groups = read(cursor, tools);
    if (groups.length > 0) return each([...groups.flatMap((group) => textsOf(group, text)), ...commands]);
  }
  return each([text, ...commands]);
}

function each(calls: readonly string[]): readonly string[] {
  return [...new Set(calls.map(bareText))];
}

/** A command without arguments, which no other format reads. */
const bareCommand = /^[ \t]*@tool[ \t]+\S+[ \t]*$/gm;

/** The text of each call of a group: of each expression, or of each item of a list. */
function textsOf({ start, end, places }: Group, text: string): readonly string[] {
  if (places !== undefined) return places.map(([from, to]) => text.slice(from, to));
  const whole = text.slice(start, end);
  const list = parseJson(whole.replace(opening, ""));
  return list.ok && isJsonList(list.value) ? list.value.map((item) => JSON.stringify(item)) : [whole];
}

/** A fence, quotes and stars before a call. */
const opening = /^(?:\s*```[ \t]*[\w-]*(?=\s))?[\s"'`*]+/;

const mark = new RegExp(marks.source, "gmy");

/** The text of a call, without the quotes and tags after it that a reader skipped. */
function bareText(call: string): string {
  return wordsOf(
    call
      .replace(opening, "")
      .replace(mark, "")
      .replace(/(?<![\s"'`;])[\s"'`;]+$/, ""),
  );
}

/** A character as JSON, programs and HTML escape it. */
const escape =
  /\\u(?<unicode>[\da-f]{4})|\\x(?<byte>[\da-f]{2})|&#x(?<hex>[\da-f]{1,5});?|&#(?<decimal>\d{1,6});?|&(?<name>lt|gt|amp);?/gi;
const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&" };

function unescaped(...found: readonly unknown[]): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the last argument has the groups of the expression above
  const groups = found.at(-1) as Readonly<Record<string, string | undefined>>;
  const { unicode, byte, hex = unicode ?? byte, decimal, name } = groups;
  if (name !== undefined) return named[name.toLowerCase()] ?? name;
  return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
}

/** A text without its blanks, quotes and escapes: a page has a call in HTML, the JSON of a result has it in a text, and a model may write it as a program does. */
function wordsOf(text: string): string {
  return text.replaceAll(escape, unescaped).replaceAll(/\\[nrt]|&(?:quot|apos);?|[\\\s"'`]+/g, "");
}

// Depends on: the message.
const wordsIn = remembered((message: Message) =>
  wordsOf(message.role === "user" || message.role === "assistant" ? textOf(message) : message.text),
);

function holds(message: Message, calls: readonly string[]): boolean {
  const text = wordsIn(message);
  return calls.some((call) => call !== "" && text.includes(call));
}
