import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../shared/data/recorded/", import.meta.url));

/** A recorded answer of a provider: as it came, and its events. */
export interface Recording {
  readonly name: string;
  readonly sse: string;
  readonly events: readonly unknown[];
}

/** What a recording says, read by this file alone, without any provider package. */
export interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  /** Tokens, where the recording counts them. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly finishReason?: string;
  /** What must go back with the reasoning or the calls. */
  readonly signatures: readonly string[];
}

/** The recordings in a folder whose names match, in the order of their names; none when the folder is absent, which is printed. */
export function recordingsIn(folder: string, pattern: RegExp): readonly Recording[] {
  const path = `${root}${folder}/`;
  if (!existsSync(path)) {
    console.log(`skipped: there are no recordings in ../shared/data/recorded/${folder}`);
    return [];
  }
  const names = readdirSync(path).filter((name) => pattern.test(name));
  return names.toSorted().map((name) => readRecording(name, readFileSync(path + name, "utf8")));
}

/** Files of chunks have one event a line, whole answers are one value, the others are streams as they came. */
function readRecording(name: string, text: string): Recording {
  if (text.startsWith("{") && name.endsWith(".json")) return { name, sse: text, events: [parsed(text)] };
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const chunks = name.endsWith(".chunks.txt");
  const data = chunks
    ? lines
    : lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
  const events = data.filter((line) => line !== "[DONE]").map(parsed);
  return { name, sse: chunks ? lines.map((line) => `data: ${line}\n\n`).join("") : text, events };
}

/** Some files hold several answers one after another: each ends with an event of type `last`. */
export function answersOf(recording: Recording, last: string): readonly Recording[] {
  const answers: unknown[][] = [[]];
  for (const event of recording.events) {
    answers.at(-1)?.push(event);
    if (at(event, "type") === last) answers.push([]);
  }
  const whole = answers.filter((events) => events.length > 0);
  if (whole.length <= 1) return [recording];
  return whole.map((events, index) => ({
    name: `${recording.name} #${index + 1}`,
    sse: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
    events,
  }));
}

/** Two recordings hold what is no JSON, on purpose. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

type Path = readonly (string | number)[];

/** What stands at a place in a value; undefined when nothing does. */
export function at(value: unknown, ...path: Path): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Readonly<Record<string | number, unknown>>)[key];
  }
  return found ?? undefined;
}

function textAt(value: unknown, ...path: Path): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

function numberAt(value: unknown, ...path: Path): number | undefined {
  const found = at(value, ...path);
  return typeof found === "number" ? found : undefined;
}

function listAt(value: unknown, ...path: Path): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

function joined(values: readonly unknown[], ...path: Path): string {
  return values.map((value) => textAt(value, ...path)).join("");
}

function ofType(values: readonly unknown[], type: string, ...path: Path): readonly unknown[] {
  return values.filter((value) => at(value, ...path, "type") === type);
}

function allTexts(values: readonly unknown[], ...path: Path): readonly string[] {
  return values.map((value) => textAt(value, ...path)).filter((text) => text !== "");
}

function json(text: string): unknown {
  return parsed(text === "" ? "{}" : text);
}

const openaiReasons: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  content_filter: "content-filter",
};

/** The tokens that were written: what xAI's models thought stands in the total alone. */
function writtenAt(counted: unknown): number | undefined {
  const total = numberAt(counted, "usage", "total_tokens");
  const read = numberAt(counted, "usage", "prompt_tokens");
  return total === undefined || read === undefined
    ? numberAt(counted, "usage", "completion_tokens")
    : total - read;
}

/** OpenAI's chat completions, and what other providers made of them. */
export function saidByOpenai({ events }: Recording): Said {
  const choices = events.flatMap((event) => listAt(event, "choices").slice(0, 1));
  const contents = choices.map((choice) => at(choice, "delta", "content"));
  const lists = contents.flatMap((content) => listAt(content));
  const calls = new Map<number, { readonly name: string; text: string }>();
  for (const piece of choices.flatMap((choice) => listAt(choice, "delta", "tool_calls"))) {
    const index = numberAt(piece, "index") ?? 0;
    const call = calls.get(index) ?? { name: textAt(piece, "function", "name"), text: "" };
    call.text += textAt(piece, "function", "arguments");
    calls.set(index, call);
  }
  const usage = events.findLast((event) => at(event, "usage") !== undefined);
  const last = choices.findLast((choice) => at(choice, "finish_reason") !== undefined);
  const thought = choices.map(
    (choice) => textAt(choice, "delta", "reasoning_content") || textAt(choice, "delta", "reasoning"),
  );
  const thinking = ofType(lists, "thinking").flatMap((part) => listAt(part, "thinking"));
  return {
    text: joined(contents) + joined(ofType(lists, "text"), "text"),
    reasoning: thought.join("") + joined(thinking, "text"),
    calls: [...calls.values()].map(({ name, text }) => ({ name, arguments: json(text) })),
    inputTokens: numberAt(usage, "usage", "prompt_tokens"),
    outputTokens: writtenAt(usage),
    finishReason: openaiReasons[textAt(last, "finish_reason")],
    signatures: [],
  };
}

const anthropicReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  refusal: "content-filter",
};

/** Anthropic's messages. `inputTokens` leaves out what was read from or written to the cache, which is `cacheTokens`. */
export function saidByAnthropic({ events }: Recording): Said & { readonly cacheTokens: number } {
  const deltas = ofType(events, "content_block_delta");
  const start = at(ofType(events, "message_start")[0], "message");
  const end = ofType(events, "message_delta").at(-1);
  const blocks = ofType(ofType(events, "content_block_start"), "tool_use", "content_block");
  const calls = blocks.map((block) => {
    const mine = deltas.filter((delta) => at(delta, "index") === at(block, "index"));
    const pieces = joined(mine, "delta", "partial_json");
    const args = pieces === "" ? at(block, "content_block", "input") : json(pieces);
    return { name: textAt(block, "content_block", "name"), arguments: args };
  });
  const whole = ofType(listAt(start, "content"), "tool_use");
  const count = (field: string): number | undefined =>
    numberAt(end, "usage", field) ?? numberAt(start, "usage", field);
  /** What several models wrote for one message is counted apart, which is not compared. */
  const counts = at(end, "usage", "iterations") === undefined;
  return {
    text: deltas.map((delta) => textAt(delta, "delta", "text") + textAt(delta, "delta", "content")).join(""),
    reasoning: joined(deltas, "delta", "thinking"),
    calls: [...whole.map((part) => ({ name: textAt(part, "name"), arguments: at(part, "input") })), ...calls],
    inputTokens: counts ? count("input_tokens") : undefined,
    outputTokens: counts ? count("output_tokens") : undefined,
    cacheTokens: (count("cache_read_input_tokens") ?? 0) + (count("cache_creation_input_tokens") ?? 0),
    finishReason: anthropicReasons[textAt(end, "delta", "stop_reason") || textAt(start, "stop_reason")],
    signatures: allTexts(deltas, "delta", "signature"),
  };
}

/** OpenAI's responses. */
export function saidByResponses({ events }: Recording): Said {
  const items = ofType(events, "response.output_item.done").map((event) => at(event, "item"));
  const calls = ofType(items, "function_call");
  const end = [...ofType(events, "response.completed"), ...ofType(events, "response.incomplete")][0];
  return {
    text: joined(ofType(events, "response.output_text.delta"), "delta"),
    reasoning: joined(ofType(events, "response.reasoning_summary_text.delta"), "delta"),
    calls: calls.map((item) => ({ name: textAt(item, "name"), arguments: json(textAt(item, "arguments")) })),
    inputTokens: numberAt(end, "response", "usage", "input_tokens"),
    outputTokens: numberAt(end, "response", "usage", "output_tokens"),
    signatures: allTexts(ofType(items, "reasoning"), "encrypted_content"),
  };
}

/** Gemini. It counts the tokens of its reasoning apart from its output. */
export function saidByGemini({ events }: Recording): Said {
  const parts = events.flatMap((event) => listAt(event, "candidates", 0, "content", "parts"));
  const calls = parts.flatMap((part) => at(part, "functionCall") ?? []);
  const usage = at(events.at(-1), "usageMetadata");
  const output =
    (numberAt(usage, "candidatesTokenCount") ?? 0) + (numberAt(usage, "thoughtsTokenCount") ?? 0);
  return {
    text: joined(
      parts.filter((part) => at(part, "thought") !== true),
      "text",
    ),
    reasoning: joined(
      parts.filter((part) => at(part, "thought") === true),
      "text",
    ),
    calls: calls.map((call) => ({ name: textAt(call, "name"), arguments: at(call, "args") ?? {} })),
    inputTokens: numberAt(usage, "promptTokenCount"),
    outputTokens: output,
    signatures: allTexts(parts, "thoughtSignature"),
  };
}

/** A message of Anthropic that came whole. */
export function saidByWholeMessage({ events: [message] }: Recording): Said {
  const blocks = listAt(message, "content");
  const calls = ofType(blocks, "tool_use");
  return {
    text: joined(blocks, "text"),
    reasoning: joined(blocks, "thinking"),
    calls: calls.map((block) => ({ name: textAt(block, "name"), arguments: at(block, "input") })),
    inputTokens: numberAt(message, "usage", "input_tokens"),
    outputTokens: numberAt(message, "usage", "output_tokens"),
    finishReason: anthropicReasons[textAt(message, "stop_reason")],
    signatures: allTexts(blocks, "signature"),
  };
}

/** A chat completion that came whole. */
export function saidByWholeChat({ events: [answer] }: Recording): Said {
  const message = at(answer, "choices", 0, "message");
  const calls = listAt(message, "tool_calls");
  return {
    text: textAt(message, "content"),
    reasoning: textAt(message, "reasoning_content") || textAt(message, "reasoning"),
    calls: calls.map((call) => ({
      name: textAt(call, "function", "name"),
      arguments: json(textAt(call, "function", "arguments")),
    })),
    inputTokens: numberAt(answer, "usage", "prompt_tokens"),
    outputTokens: writtenAt(answer),
    finishReason: openaiReasons[textAt(answer, "choices", 0, "finish_reason")],
    signatures: [],
  };
}
