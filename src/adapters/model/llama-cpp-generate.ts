import { WritError } from "../../error/writ-error.ts";
import { performance } from "node:perf_hooks";
import type { LlamaContextSequence, SequenceEvaluateOptions, Token } from "node-llama-cpp";
import type { Delta, FinishReason, ModelSettings } from "../../model/model.ts";
import { tokensOf, type Engine, type Slot } from "./llama-cpp-engine.ts";
import { llamaFailed } from "./llama-cpp-failed.ts";
import type { Segment } from "./llama-cpp-prompt.ts";
import { withoutUndefined } from "./llama-cpp-source.ts";
import { textWriter } from "./llama-cpp-text.ts";

/** The parts that make one reply. */
export interface Generation {
  readonly engine: Engine;
  readonly slot: Slot;
  /** The name of the model for messages. */
  readonly name: string;
  readonly segments: readonly Segment[];
  readonly settings: ModelSettings;
  readonly grammar?: string;
  readonly signal: AbortSignal;
}

/** The tokens after which replies are cut unless the settings say otherwise, because small models tend to go on forever. */
const defaultMaxOutputTokens = 512;

const firstChunkTokens = 64;
const maxChunkTokens = 512;
const minChunkTokens = 8;

/** Writes one reply. The usage counts tokens in the slot's cache as cached, so that the rest was really evaluated. */
export async function* generate(generation: Generation): AsyncGenerator<Delta, void> {
  const { engine, slot, segments, settings, signal } = generation;
  const { sequence } = slot;
  const tokens = tokensOf(engine, slot, segments);
  const room = sequence.contextSize - tokens.length;
  if (tokens.length === 0) throw llamaFailed(generation.name, "the prompt is empty");
  if (room < 1) {
    const reason = `the prompt has ${tokens.length} tokens and the context holds ${sequence.contextSize}; a larger contextSize can be given`;
    throw new WritError("context-exceeded", { provider: "llama-cpp", model: generation.name, reason });
  }
  delete slot.known;
  const options = await samplingOptions(generation);
  const cachedInputTokens = await readPrompt(sequence, tokens, signal);

  const limit = Math.min(settings.maxOutputTokens ?? defaultMaxOutputTokens, room);
  const stops = [...(settings.stopSequences ?? []), ...engine.prompt.stopTexts];
  const tail = tokens.slice(-8);
  const textAfter = (part: readonly Token[], before: readonly Token[]): string =>
    engine.model.detokenize(part, false, [...tail, ...before]);
  const writer = textWriter(textAfter, stops);
  const written: Token[] = [];
  let text = "";
  let finishReason: FinishReason = "stop";
  let stopped = false;
  for await (const token of sequence.evaluate(tokens.slice(-1), options)) {
    signal.throwIfAborted();
    if (engine.prompt.stopTokens.has(token)) break;
    written.push(token);
    const piece = writer.push(token);
    text += piece.text;
    if (piece.text !== "") yield { type: "text-delta", text: piece.text };
    if (piece.stopped) {
      stopped = true;
      break;
    }
    if (written.length >= limit) {
      finishReason = "length";
      break;
    }
  }
  signal.throwIfAborted();
  const rest = writer.end();
  text += rest;
  if (rest !== "") yield { type: "text-delta", text: rest };
  // Kept only if the text has everything that the tokens have: then the next turn's prompt, made from the text, continues these tokens.
  if (!stopped && text !== "" && textAfter(written, []) === text) {
    slot.known = { segments: [...segments, { type: "text", text }], tokens: [...tokens, ...written] };
  }
  yield {
    type: "end",
    finishReason,
    usage: { inputTokens: tokens.length, outputTokens: written.length, cachedInputTokens },
  };
}

/** Loads the whole prompt except its last token into the cache, and returns the number of its tokens that were there already. */
async function readPrompt(
  sequence: LlamaContextSequence,
  tokens: readonly Token[],
  signal: AbortSignal,
): Promise<number> {
  const prompt = tokens.slice(0, -1);
  await sequence.adaptStateToTokens(prompt, false);
  const cached = sequence.nextTokenIndex;
  let size = firstChunkTokens;
  for (let start = cached; start < prompt.length;) {
    signal.throwIfAborted();
    const chunk = prompt.slice(start, start + size);
    const began = performance.now();
    await sequence.evaluateWithoutGeneratingNewTokens(chunk);
    start += chunk.length;
    size = nextChunkSize(size, performance.now() - began);
  }
  signal.throwIfAborted();
  if (sequence.needsCheckpoints) await sequence.takeCheckpoint();
  return cached;
}

/**
 * The size of the next chunk. llama.cpp cannot be interrupted inside a chunk: so that an abort is noticed within half a second, a chunk takes about a quarter.
 */
function nextChunkSize(size: number, tookMs: number): number {
  if (tookMs < 125) return Math.min(maxChunkTokens, size * 2);
  return tookMs > 400 ? Math.max(minChunkTokens, size / 2) : size;
}

async function samplingOptions({ engine, settings, grammar }: Generation): Promise<SequenceEvaluateOptions> {
  const { temperature = grammar === undefined ? 0.7 : 0, topP, topK, seed, providerOptions } = settings;
  const compiled = grammar === undefined ? undefined : await engine.grammar(grammar);
  const { LlamaGrammarEvaluationState } = engine.runtime.library;
  return {
    ...providerOptions,
    temperature,
    ...withoutUndefined({ topP, topK, seed }),
    ...(compiled && {
      tokenBias: engine.textOnly(),
      grammarEvaluationState: new LlamaGrammarEvaluationState({ model: engine.model, grammar: compiled }),
    }),
  };
}
