import { messageOf, WritError } from "../../error/writ-error.ts";
import type { Delta, ModelRequest, StreamOptions } from "../../model/model.ts";
import { type Engine, heldTokens, holdEngine } from "./llama-cpp-engine.ts";
import { generate } from "./llama-cpp-generate.ts";
import { plainTurns, type Segment } from "./llama-cpp-prompt.ts";
import { type LlamaCppSource, withoutUndefined } from "./llama-cpp-source.ts";

/** Asks for a reply: the `stream` of {@link LlamaCppSource}. */
export async function* reply(
  source: LlamaCppSource,
  request: ModelRequest,
  { signal }: StreamOptions,
): AsyncGenerator<Delta, void> {
  const { defaults } = source;
  const { name } = source.engine;
  signal.throwIfAborted();
  if (request.tools.length > 0) {
    throw new WritError("model-without-tools", {
      model: name,
      provider: "llama-cpp",
      known: "models of other providers, like ollama",
    });
  }
  const grammar = grammarOf(request, name);
  const turns = request.prompt === undefined ? plainTurns(request.messages, name) : [];
  const engine = await unlessAborted(engineOf(source), signal);
  const segments: readonly Segment[] =
    request.prompt === undefined ? engine.prompt.write(turns) : completionOf(engine, request.prompt);
  const slot = await engine.queue.acquire(signal, (free) => heldTokens(free, segments));
  try {
    const settings = { ...defaults, ...withoutUndefined(request.settings) };
    yield* generate({
      engine,
      slot,
      name,
      segments,
      settings,
      signal,
      ...(grammar === undefined ? {} : { grammar }),
    });
  } catch (error) {
    if (signal.aborted || error instanceof WritError) throw error;
    throw failed(name, messageOf(error), error);
  } finally {
    engine.queue.release(slot);
  }
}

/** The engine of the model, loaded when nobody has it. One that could not be loaded is tried again by the next request. */
function engineOf(source: LlamaCppSource): Promise<Engine> {
  if (source.hold === undefined) {
    const taken = holdEngine(source.engine);
    source.hold = taken;
    taken.engine.catch(() => {
      if (source.hold === taken) source.hold = undefined;
    });
  }
  return source.hold.engine;
}

/** A text to go on from. Models that expect a token at the beginning get it. */
function completionOf({ model }: Engine, prompt: string): readonly Segment[] {
  const beginning: readonly Segment[] = model.tokens.shouldPrependBosToken
    ? [{ type: "builtin", text: "BOS" }]
    : [];
  return prompt === "" ? beginning : [...beginning, { type: "text", text: prompt }];
}

function grammarOf({ format }: ModelRequest, name: string): string | undefined {
  if (format === undefined) return undefined;
  if (format.type === "grammar") return format.grammar;
  throw failed(
    name,
    "it is held to its format by a GBNF grammar, not by a JSON Schema; the json driver makes one",
  );
}

function failed(model: string, reason: string, cause?: unknown): WritError {
  return new WritError(
    "provider-failed",
    { provider: "llama-cpp", model, reason },
    { cause, retryable: false },
  );
}

function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
