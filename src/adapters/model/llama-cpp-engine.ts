import { existsSync } from "node:fs";
import type {
  LlamaContext,
  LlamaContextSequence,
  LlamaGrammar,
  LlamaModel,
  Token,
  TokenBias,
} from "node-llama-cpp";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { lazy } from "../../util/remembered.ts";
import { llamaFailed } from "./llama-cpp-failed.ts";
import { readGgufSummary } from "./llama-cpp-file.ts";
import { startsWith, type Segment } from "./llama-cpp-prompt.ts";
import { openRuntime, type LlamaRuntime } from "./llama-cpp-runtime.ts";
import { slotQueue, type SlotQueue } from "./llama-cpp-slots.ts";
import { promptWriter, type PromptWriter } from "./llama-cpp-template.ts";
import { catalogue } from "../model-files/catalogue.ts";

/** The key of an engine: two models with the same file and options share one. */
export interface EngineOptions {
  readonly path: string;
  readonly name: string;
  readonly gpu: boolean;
  readonly threads?: number;
  readonly contextSize?: number;
  readonly parallel: number;
  readonly template?: string;
}

/** A sequence of the context, with the exact tokens of its conversation. */
export interface Slot {
  readonly sequence: LlamaContextSequence;
  known?: { readonly segments: readonly Segment[]; readonly tokens: readonly Token[] };
}

/** A model in memory, with its context and the queue before it. */
export interface Engine {
  readonly runtime: LlamaRuntime;
  readonly model: LlamaModel;
  readonly queue: SlotQueue<Slot>;
  readonly prompt: PromptWriter;
  /** @throws WritError `provider-failed` if the grammar is not GBNF */
  grammar(text: string): Promise<LlamaGrammar>;
  /**
   * Restricts a reply under a grammar to tokens that are text, and those that end it. A grammar treats a control token as its name and allows it
   * in a string, where it would be lost or end the reply.
   */
  textOnly(): TokenBias;
  close(): Promise<void>;
}

interface Shared {
  readonly engine: Promise<Engine>;
  users: number;
}

/** A hold on a shared engine. */
export interface EngineHold {
  readonly engine: Promise<Engine>;
  /** Releases the hold; the last release frees the memory. */
  release(): Promise<void>;
}

/** The largest context that is made by default: the cache of a long one takes gigabytes. */
const defaultContextTokens = 8192;
const keptGrammars = 16;

// Depends on: all options of the engine, which are its key; the file at its path, when it was loaded.
const engines = new Map<string, Shared>();

/**
 * Takes a hold on the engine of these options, and loads the engine if nobody has it. An engine that could not be loaded is forgotten, so that the
 * next request tries again.
 *
 * @throws WritError from `engine`: `model-file-missing`, `model-file-invalid`, `peer-missing`, `provider-failed`
 */
export function holdEngine(options: EngineOptions): EngineHold {
  const key = JSON.stringify(options);
  let shared = engines.get(key);
  if (shared === undefined) {
    const created: Shared = { engine: loadEngine(options), users: 0 };
    created.engine.catch(() => {
      if (engines.get(key) === created) engines.delete(key);
    });
    engines.set(key, (shared = created));
  }
  const held = shared;
  held.users += 1;
  let released = false;
  return {
    engine: held.engine,
    async release() {
      if (released) return;
      released = true;
      held.users -= 1;
      if (held.users > 0) return;
      if (engines.get(key) === held) engines.delete(key);
      const engine = await held.engine.catch(() => undefined);
      await engine?.close();
    },
  };
}

async function loadEngine(options: EngineOptions): Promise<Engine> {
  const { path, name, parallel } = options;
  if (!existsSync(path)) {
    const listed = catalogue.find((entry) => entry.name === name) ?? catalogue[0];
    throw new WritError("model-file-missing", { path, name: listed?.name ?? name });
  }
  const summary = readGgufSummary(path);
  const runtime = await openRuntime(options);
  const model = await loadModel(runtime, path);
  try {
    const template = options.template ?? summary.chatTemplate;
    const prompt = promptWriter({ library: runtime.library, model, path, template });
    const context = await createContext(runtime, model, options);
    const slots = Array.from({ length: parallel }, () => ({ sequence: context.getSequence() }));
    return {
      runtime,
      model,
      queue: slotQueue<Slot>(slots),
      prompt,
      grammar: grammarCache(runtime, name),
      textOnly: lazy(() => onlyText(runtime, model)),
      async close() {
        await context.dispose();
        await model.dispose();
      },
    };
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

async function loadModel({ llama }: LlamaRuntime, path: string): Promise<LlamaModel> {
  try {
    return await llama.loadModel({ modelPath: path });
  } catch (error) {
    throw new WritError("model-file-invalid", { path, reason: messageOf(error) }, { cause: error });
  }
}

async function createContext(
  { threads }: LlamaRuntime,
  model: LlamaModel,
  options: EngineOptions,
): Promise<LlamaContext> {
  const contextSize = options.contextSize ?? { max: Math.min(defaultContextTokens, model.trainContextSize) };
  try {
    return await model.createContext({ sequences: options.parallel, contextSize, threads });
  } catch (error) {
    const reason = `its context cannot be made (${messageOf(error)}); give a smaller contextSize`;
    throw llamaFailed(options.name, reason, error);
  }
}

function onlyText({ library }: LlamaRuntime, model: LlamaModel): TokenBias {
  const tokens = [...model.iterateAllTokens()].filter(
    (token) => model.getTokenAttributes(token).control && !model.isEogToken(token),
  );
  return library.TokenBias.for(model).set(tokens, "never");
}

/** Compiles grammars, and keeps the last ones, because a run sends the same one again and again. */
function grammarCache({ llama }: LlamaRuntime, name: string): (text: string) => Promise<LlamaGrammar> {
  const kept = new Map<string, LlamaGrammar>();
  return async (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    try {
      const grammar = await llama.createGrammar({ grammar: text });
      const [oldest] = kept.keys();
      if (kept.size >= keptGrammars && oldest !== undefined) kept.delete(oldest);
      kept.set(text, grammar);
      return grammar;
    } catch (error) {
      const reason = `llama.cpp does not accept the grammar of the reply (${messageOf(error)}): ${text.slice(0, 200)}`;
      throw llamaFailed(name, reason, error);
    }
  };
}

/**
 * The tokens of a prompt. If it continues the conversation in the slot, the tokens that the model wrote are reused:
 * to tokenise its text again could give others, and the cache would be lost from there on.
 */
export function tokensOf(engine: Engine, slot: Slot, segments: readonly Segment[]): Token[] {
  const { known } = slot;
  if (known === undefined || !startsWith(segments, known.segments)) return tokenize(engine, segments);
  return [...known.tokens, ...tokenize(engine, segments.slice(known.segments.length))];
}

function tokenize({ runtime: { library }, model }: Engine, segments: readonly Segment[]): Token[] {
  const values = segments.map((segment) => {
    if (segment.type === "builtin") return new library.SpecialToken(segment.text);
    return segment.type === "text" ? segment.text : new library.SpecialTokensText(segment.text);
  });
  return new library.LlamaText(values).tokenize(model.tokenizer, "trimLeadingSpace");
}

/** Counts the segments of a prompt that a slot already holds, to choose among free slots. */
export function heldTokens(slot: Slot, segments: readonly Segment[]): number {
  const { known } = slot;
  if (known === undefined) return 0;
  let shared = 0;
  while (shared < known.segments.length && startsWith(segments, known.segments.slice(0, shared + 1)))
    shared += 1;
  return shared;
}
