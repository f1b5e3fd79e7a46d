import { aboutOf, type Runnable, type RunResult } from "../../agent/runnable.ts";
import type { RunOptions } from "../../agent/run-options.ts";
import { checkShape, closed } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import type { AgentEvent } from "../../event/event.ts";
import type { FinishReason, ReplyPart } from "../../message/message.ts";
import type { Usage } from "../../message/usage.ts";
import type { JsonObject } from "../../util/json.ts";
import { optional, record } from "../../util/shape.ts";
import { abortErrorOf } from "./streams.ts";

/** A part of a stream of a language model, specification V3. */
type Part = { readonly type: string } & { readonly [field: string]: unknown };

/** A request to a language model, with the fields that an agent reads (`LanguageModelV3CallOptions` of `@ai-sdk/provider` 3). */
interface AskedFor {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  readonly abortSignal?: AbortSignal | undefined;
  readonly responseFormat?: { readonly type: string } | undefined;
  readonly tools?: readonly unknown[] | undefined;
  readonly toolChoice?: { readonly type: string } | undefined;
  readonly reasoning?: string | undefined;
  readonly [setting: string]: unknown;
}

/**
 * Options of {@link asLanguageModel}.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { asLanguageModel, type AgentModelOptions } from "writ/ai-sdk";
 *
 * const options: AgentModelOptions = { run: { approve: ({ tool }) => tool !== "pay" } };
 * export const model = asLanguageModel(agent({ name: "clerk", model: "ollama/qwen2.5:7b" }), options);
 * ```
 */
export interface AgentModelOptions {
  /** Options of every run: `approve`, `account`, `onEvent`, … The request gives the signal, and its system message comes after `instructions`. */
  readonly run?: Omit<RunOptions, "signal" | "runId">;
}

/**
 * An agent as a language model of the AI SDK, specification V3, for `generateText`, `streamText` and all functions that take such a model. (`ai` 6 and 7.)
 *
 * @example
 * ```ts
 * import { generateText } from "ai";
 * import { agent } from "writ";
 * import { asLanguageModel, type AgentLanguageModel } from "writ/ai-sdk";
 *
 * const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b" });
 * const model: AgentLanguageModel = asLanguageModel(clerk);
 * export const { text } = await generateText({ model, prompt: "Refund order 17" });
 * ```
 */
export interface AgentLanguageModel {
  readonly specificationVersion: "v3";
  readonly provider: "writ";
  /** The name of the agent. */
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  // oxlint-disable-next-line typescript/no-explicit-any -- `@ai-sdk/provider` has the types, and is not imported
  doGenerate(options: any): PromiseLike<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  doStream(options: any): PromiseLike<any>;
}

const shape = closed({ run: optional(record) });

/**
 * Makes a language model of the AI SDK from an agent. A request is a run: its messages are the agent's input, its system message comes after the agent's
 * own instructions, and its signal cancels the run. The agent calls its own tools, and they are shown as calls of the provider. Nothing of the AI SDK is
 * imported.
 *
 * Tools, a choice of tools and settings of sampling are the agent's own: each of these in a request causes a warning. A run that does not
 * answer throws a `WritError` with its code.
 *
 * @throws WritError `definition-invalid` for a value that is not an agent, for an agent whose input is a value of a schema, and for other options
 * @example
 * ```ts
 * import { streamText } from "ai";
 * import { agent } from "writ";
 * import { asLanguageModel } from "writ/ai-sdk";
 *
 * const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b" });
 * const { textStream } = streamText({ model: asLanguageModel(clerk), prompt: "Refund order 17" });
 * for await (const text of textStream) process.stdout.write(text);
 * ```
 */
export function asLanguageModel(agent: Runnable, options: AgentModelOptions = {}): AgentLanguageModel {
  const about = aboutOf(agent);
  if (about === undefined) return refuse("give an agent, or agents put together");
  if (about.input !== undefined)
    return refuse(`"${agent.name}" takes a value of a schema, and a language model is given messages`);
  checkShape("asLanguageModel()", options, shape);
  const isJson = about.outputs.some((output) => output !== undefined);
  const parts = (asked: AskedFor): AsyncGenerator<Part, void> =>
    partsOf({ agent, isJson, ...options }, asked);
  return {
    specificationVersion: "v3",
    provider: "writ",
    modelId: agent.name,
    supportedUrls: { "*/*": [/^https?:/] },
    doGenerate: (asked: AskedFor) => wholeOf(parts(asked)),
    doStream: async (asked: AskedFor) => ({ stream: ReadableStream.from(withErrors(parts(asked))) }),
  };
}

function refuse(reason: string): never {
  throw new WritError("definition-invalid", { where: "asLanguageModel()", reason });
}

interface AgentAsked extends AgentModelOptions {
  readonly agent: Runnable;
  /** True if its answer is JSON, which text of its other turns would break. */
  readonly isJson: boolean;
}

/** The parts of a run. @throws the reason of the signal, and the error of a run that did not answer */
async function* partsOf(
  { agent, isJson, run = {} }: AgentAsked,
  asked: AskedFor,
): AsyncGenerator<Part, void> {
  const { prompt, abortSignal: signal } = asked;
  if (signal?.aborted === true) throw abortErrorOf(signal);
  yield { type: "stream-start", warnings: warningsOf(asked, isJson) };
  const told = prompt.flatMap(({ role, content }) => (role === "system" ? [String(content)] : []));
  const instructions = [...(run.instructions === undefined ? [] : [run.instructions]), ...told].join("\n\n");
  const parts = new AgentParts(agent.name, isJson);
  const events = agent.stream(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it takes messages: it has no schema of its input
    prompt.filter(({ role }) => role !== "system") as never,
    { ...run, ...(instructions === "" ? {} : { instructions }), ...(signal === undefined ? {} : { signal }) },
  );
  try {
    for (;;) {
      const next = await events.next();
      if (next.done === true) return yield* parts.ended(next.value, signal);
      yield* parts.of(next.value);
    }
  } finally {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a reader that leaves wants no result; the run is cancelled
    await events.return(undefined as never);
  }
}

/** Makes parts from the events of a run. */
class AgentParts {
  private readonly name: string;
  private readonly isJson: boolean;
  private runId: string | undefined;
  private open: "text" | "reasoning" | undefined;
  private count = 0;
  private isSaid = false;

  constructor(name: string, isJson: boolean) {
    this.name = name;
    this.isJson = isJson;
  }

  of(event: AgentEvent): readonly Part[] {
    if (event.runId !== (this.runId ??= event.runId)) return []; // an event of a run inside
    if (event.type === "run-start")
      return [
        { type: "response-metadata", id: event.runId, modelId: this.name, timestamp: new Date(event.at) },
      ];
    if (event.type === "message-start") this.begin();
    if (event.type === "reasoning-delta") return this.write("reasoning", event.text);
    if (event.type === "text-delta") return this.isJson ? [] : this.write("text", event.text);
    if (event.type === "message-end" && event.message !== undefined)
      return [...this.close(), ...event.message.parts.flatMap(callPart)];
    return event.type === "tool-end" || event.type === "knowledge-used" ? [resultPart(event)] : [];
  }

  /** The parts of the end of the run. @throws the reason of the signal, and the error of a run that did not answer */
  *ended(
    { outcome, output, text, files, usage, error }: RunResult<unknown>,
    signal: AbortSignal | undefined,
  ): Generator<Part, void> {
    if (outcome.type === "cancelled" && signal?.aborted === true) throw abortErrorOf(signal);
    if (outcome.type !== "answered")
      throw error ?? new WritError("run-unanswered", { name: this.name, reason: outcome.type });
    if (this.isJson) yield* this.write("text", typeof output === "string" ? output : JSON.stringify(output));
    else if (!this.isSaid) yield* this.write("text", text);
    yield* this.close();
    for (const { mediaType, data } of files) yield { type: "file", mediaType, data };
    yield { type: "finish", finishReason: finishOf(outcome.finishReason), usage: usageOf(usage) };
  }

  /** Begins a reply. @throws WritError `reply-began-anew` after a part was sent, which cannot be taken back */
  private begin(): void {
    if (this.open !== undefined) throw new WritError("reply-began-anew", { name: this.name });
    this.isSaid = false;
  }

  private write(kind: "text" | "reasoning", delta: string): Part[] {
    if (delta === "") return [];
    const begins = this.open === kind ? [] : [...this.close(), this.start(kind)];
    if (kind === "text") this.isSaid = true;
    return [...begins, { type: `${kind}-delta`, id: String(this.count), delta }];
  }

  private start(kind: "text" | "reasoning"): Part {
    this.open = kind;
    this.count += 1;
    return { type: `${kind}-start`, id: String(this.count) };
  }

  private close(): Part[] {
    const { open } = this;
    this.open = undefined;
    return open === undefined ? [] : [{ type: `${open}-end`, id: String(this.count) }];
  }
}

/** The part for a call of the agent's own, which the caller does not carry out. */
function callPart(part: ReplyPart): Part[] {
  if (part.type !== "tool-call") return [];
  const { id: toolCallId, name: toolName, arguments: args } = part;
  const input = JSON.stringify(args);
  return [{ type: "tool-call", toolCallId, toolName, input, providerExecuted: true, dynamic: true }];
}

function resultPart({ callId: toolCallId, name: toolName, result: { status, value, text } }: CallEnd): Part {
  const isError = status !== "ok";
  return { type: "tool-result", toolCallId, toolName, result: value ?? text, isError, dynamic: true };
}

type CallEnd = Extract<AgentEvent, { readonly type: "tool-end" | "knowledge-used" }>;

/** Settings of a request that only the agent decides. */
const unsupported = [
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "stopSequences",
  "seed",
  "providerOptions",
] as const;

function warningsOf(asked: AskedFor, isJson: boolean): readonly JsonObject[] {
  const { tools = [], toolChoice, responseFormat, reasoning = "provider-default" } = asked;
  const given = unsupported.filter((name) => asked[name] !== undefined);
  const features: string[] = [...given];
  if (tools.length > 0) features.push("tools");
  if (toolChoice !== undefined && toolChoice.type !== "auto") features.push("toolChoice");
  if (reasoning !== "provider-default") features.push("reasoning");
  if (responseFormat?.type === "json" && !isJson) features.push("responseFormat");
  return features.map((feature) => ({ type: "unsupported", feature, details: "The agent has its own." }));
}

const finishes: { readonly [Reason in FinishReason]?: string } = { pause: "other" };

function finishOf(reason: FinishReason): JsonObject {
  return { unified: finishes[reason] ?? reason, raw: reason };
}

function usageOf({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  cacheWriteTokens,
  reasoningTokens,
}: Usage): object {
  const noCache =
    cachedInputTokens === undefined && cacheWriteTokens === undefined
      ? undefined
      : inputTokens - (cachedInputTokens ?? 0) - (cacheWriteTokens ?? 0);
  const text = reasoningTokens === undefined ? undefined : outputTokens - reasoningTokens;
  return {
    inputTokens: { total: inputTokens, noCache, cacheRead: cachedInputTokens, cacheWrite: cacheWriteTokens },
    outputTokens: { total: outputTokens, text, reasoning: reasoningTokens },
  };
}

/** The parts, with the error of the run as the last one, where readers of a stream expect it. */
async function* withErrors(parts: AsyncIterable<Part>): AsyncGenerator<Part, void> {
  try {
    yield* parts;
  } catch (error) {
    yield { type: "error", error };
  }
}

/** The whole answer. */
async function wholeOf(parts: AsyncIterable<Part>): Promise<object> {
  const content: { type: unknown; text?: string }[] = [];
  let head: object = {};
  let end: object = {};
  let response: object = {};
  for await (const { type, ...part } of parts) {
    if (type === "stream-start") head = part;
    else if (type === "response-metadata") response = part;
    else if (type === "finish") end = part;
    else if (type === "text-start" || type === "reasoning-start")
      content.push({ type: type.replace("-start", ""), text: "" });
    else if (type === "text-delta" || type === "reasoning-delta") {
      const last = content.at(-1);
      if (last !== undefined) last.text = `${last.text}${String(part["delta"])}`;
    } else if (!type.endsWith("-end")) content.push({ type, ...part });
  }
  return { content, ...head, ...end, response };
}
