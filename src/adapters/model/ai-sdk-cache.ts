import type { ModelRequest } from "../../model/model.ts";
import { asObject, isJsonObject } from "../../util/json.ts";
import type { PromptMessage, PromptPart } from "./ai-sdk-prompt.ts";

/** The parts of a call that may have marks. */
interface Markable {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly object[];
  /** `providerOptions` of the whole request. */
  readonly providerOptions?: unknown;
}

interface Receiver {
  readonly provider: string;
  readonly modelId: string;
}

/**
 * Marks a request for the cache of a provider that reads from it only up to marks: the last tool, the system message, the last message, and
 * the end of the request before this one. These are the four that Anthropic takes. Without the last mark, a turn of many calls would read
 * nothing: Anthropic looks for an earlier request at most 20 blocks before a mark.
 *
 * Nothing is marked if the author marks something, or where a mark cannot help: in a prompt that is too short for any cache, and at the end of a
 * question that no request follows.
 */
export function withCacheMarks<Call extends Markable>(
  call: Call,
  receiver: Receiver,
  choice: ModelRequest["toolChoice"],
): Call {
  const name = markedBy(receiver);
  if (name === undefined || isMarkedByAuthor(call) || !isLong(call)) return call;
  const providerOptions = { [name]: marksOf[name] };
  const ends = endsOf(call, choice);
  const isMarked = ({ role }: PromptMessage, index: number): boolean =>
    (index === 0 && role === "system") || ends.includes(index);
  const prompt = call.prompt.map((message, index) =>
    isMarked(message, index) ? marked(message, providerOptions) : message,
  );
  const { tools = [] } = call;
  const last = name === "anthropic" ? tools.findLastIndex(takesMark) : -1;
  if (last === -1) return { ...call, prompt };
  return {
    ...call,
    prompt,
    tools: tools.map((tool, at) => (at === last ? marked(tool, providerOptions) : tool)),
  };
}

/** The name under which the provider's package looks for marks; undefined for a provider that caches without marks, or not at all. */
function markedBy({ provider, modelId }: Receiver): keyof typeof marksOf | undefined {
  if (/\banthropic\b/.test(provider)) return "anthropic"; // `anthropic.messages`, also in other clouds: `vertex.anthropic.messages`
  if (provider === "amazon-bedrock") return cachedInBedrock.test(modelId) ? "bedrock" : undefined;
  return /^openrouter\b/.test(provider) && modelId.startsWith("anthropic/") ? "openrouter" : undefined;
}

const ephemeral = { cacheControl: { type: "ephemeral" } };
const marksOf = {
  anthropic: ephemeral,
  openrouter: ephemeral,
  bedrock: { cachePoint: { type: "default" } },
} as const;

/** Claude's names in Bedrock's own API, from the first models whose prompts it caches: it refuses marks for others. */
const cachedInBedrock = /\banthropic\.claude-(?:3-7-|3-5-haiku|[a-z]+-[4-9])/;

/** The messages after which the next request, or this one, continues: the last one, and the one before the last reply. */
function endsOf({ prompt, tools = [] }: Markable, choice: ModelRequest["toolChoice"]): readonly number[] {
  const reply = prompt.findLastIndex(({ role }) => role === "assistant");
  const last = prompt.length - 1;
  const goesOn = tools.length > 0 ? choice !== "none" : reply !== -1;
  const ends = goesOn ? [reply - 1, last] : [reply - 1];
  return ends.filter((index) => ["user", "tool"].includes(prompt[index]?.role ?? ""));
}

interface Options {
  readonly providerOptions?: unknown;
}

function marked<Item extends Options>(item: Item, mark: Readonly<Record<string, object>>): Item {
  const given = asObject(item.providerOptions);
  const [name = ""] = Object.keys(mark);
  const own = given[name];
  const both = { ...asObject(own), ...mark[name] };
  return { ...item, providerOptions: { ...given, [name]: both } };
}

/** True for a tool that takes a mark: not for a tool of the provider's own, nor for one that the model is told of later. */
function takesMark(tool: { readonly type?: unknown } & Options): boolean {
  const { type, providerOptions } = tool;
  return type === "function" && !JSON.stringify(providerOptions ?? null).includes('"deferLoading":true');
}

function isMarkedByAuthor({ prompt, tools = [], providerOptions }: Markable): boolean {
  return (
    hasMark({ providerOptions }) ||
    tools.some(hasMark) ||
    prompt.some(
      (message) => hasMark(message) || (Array.isArray(message.content) && message.content.some(hasMark)),
    )
  );
}

function hasMark({ providerOptions }: Options): boolean {
  if (providerOptions === undefined || !isJsonObject(providerOptions)) return false;
  return Object.values(providerOptions).some(
    (own) =>
      isJsonObject(own) &&
      [own["cacheControl"], own["cache_control"], own["cachePoint"]].some((mark) => mark !== undefined),
  );
}

/** The characters of the shortest prompt that a cache keeps: Anthropic's minimum is 1 024 tokens, and more for some models. */
const leastCharacters = 3 * 1024;

function isLong({ prompt, tools = [] }: Markable): boolean {
  let characters = 0;
  for (const { content } of prompt) {
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    for (const part of parts) characters += lengthOf(part);
    if (characters >= leastCharacters) return true;
  }
  return characters + JSON.stringify(tools).length >= leastCharacters;
}

/** The length of a part. A file counts as a whole minimal prompt: providers count a thousand tokens and more for one. */
function lengthOf(part: PromptPart): number {
  if (typeof part["text"] === "string") return part["text"].length;
  return part.type === "file" ? leastCharacters : JSON.stringify(part).length;
}
