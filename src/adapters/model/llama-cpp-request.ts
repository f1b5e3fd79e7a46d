import { messageOf, WritError } from "../../error/writ-error.ts";
import type { Delta, ModelRequest, StreamOptions } from "../../model/model.ts";
import { type Engine, heldTokens, holdEngine } from "./llama-cpp-engine.ts";
import { generate } from "./llama-cpp-generate.ts";
import { plainTurns, type Segment } from "./llama-cpp-prompt.ts";
import { llamaFailed } from "./llama-cpp-failed.ts";
import { type LlamaCppSource, withoutUndefined } from "./llama-cpp-source.ts";
import { orAborted } from "./streams.ts";

/** Yields a reply: the `stream` of {@link LlamaCppSource}. */
export async function* reply(
  source: LlamaCppSource,
  request: ModelRequest,
  { signal }: StreamOptions,
): AsyncGenerator<Delta, void> {
  const { defaults } = source;
  const { name } = source.engine;
  signal.throwIfAborted();
  if (request.tools.length > 0) {
    const known = "Those of other providers can, like ollama.";
    throw new WritError("model-without-tools", { model: name, provider: "llama-cpp", known });
  }
  const grammar = grammarOf(request, name);
  const turns = request.prompt === undefined ? plainTurns(request.messages, name) : [];
  const engine = await orAborted(engineOf(source), signal);
  const segments: readonly Segment[] =
    request.prompt === undefined ? engine.prompt.write(turns) : completionOf(engine, request.prompt);
  const slot = await engine.queue.acquire(signal, (free) => heldTokens(free, segments));
  try {
    const settings = { ...defaults, ...withoutUndefined(request.settings) };
    yield* generate({ engine, slot, name, segments, settings, signal, grammar });
  } catch (error) {
    if (signal.aborted || error instanceof WritError) throw error;
    throw llamaFailed(name, messageOf(error), error);
  } finally {
    engine.queue.release(slot);
  }
}

/** The engine of the model, loaded if nobody has it. After a failure, the next request tries again. */
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

/** A text to continue. Models that expect a token at the beginning get it. */
function completionOf({ model }: Engine, prompt: string): readonly Segment[] {
  const beginning: readonly Segment[] = model.tokens.shouldPrependBosToken
    ? [{ type: "builtin", text: "BOS" }]
    : [];
  return prompt === "" ? beginning : [...beginning, { type: "text", text: prompt }];
}

function grammarOf({ format }: ModelRequest, name: string): string | undefined {
  if (format === undefined) return undefined;
  if (format.type === "grammar") return format.grammar;
  const reason =
    "it is held to its format by a GBNF grammar, not by a JSON Schema; the json driver makes one";
  throw llamaFailed(name, reason);
}
