import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { checkArguments } from "../../error/check-shape.ts";
import type { Model, ModelFeatures, ModelSettings } from "../../model/model.ts";
import { settingShapes } from "../../model/setting-shapes.ts";
import { anything, boolean, filled, optional, string } from "../../util/shape.ts";
import { modelPath } from "../model-files/cache.ts";
import { readGgufSummary } from "./llama-cpp-file.ts";
import { type LlamaCppSource, withoutUndefined } from "./llama-cpp-source.ts";
import { atLeastOne, knownOptions, type OptionShapes } from "./options.ts";
import { settingsData } from "./settings-data.ts";
import { whenAsked } from "./streams.ts";

/** Options of a model inside the process, with the settings of requests that have none. */
export interface LlamaCppOptions {
  /** 0 always takes the likeliest token. Default 0.7; 0 if a grammar holds the reply. */
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  /** The tokens after which a reply is cut. Default 512. */
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  /** The threads of one evaluation. Default: the cores that this process may use, minus one. More than there are makes it slower by orders of magnitude. */
  readonly threads?: number;
  /** The tokens of a conversation that fit. Default: the length of the model's training, at most 8192, and less if memory is short. */
  readonly contextSize?: number;
  /** The requests that are carried out at the same time; others wait in order. Each takes memory. Default 1. */
  readonly parallel?: number;
  /** Uses a GPU if there is one and its libraries are installed. Default false. */
  readonly gpu?: boolean;
  /** The format of conversations: `chatml` or a Jinja template. Default: the one in the file. */
  readonly template?: string;
}

/** A model inside the process. Its memory is freed with the process, or earlier by `dispose`. */
export interface LlamaCppModel extends Model, AsyncDisposable {
  /** Frees the memory if no other model shares it. Requests under way fail; a later request loads the model again. */
  dispose(): Promise<void>;
}

const { temperature, topP, topK, seed, stopSequences } = settingShapes;
const known: OptionShapes<LlamaCppOptions> = {
  temperature,
  topP,
  topK,
  seed,
  maxOutputTokens: anything,
  stopSequences,
  threads: anything,
  contextSize: anything,
  parallel: anything,
  gpu: optional(boolean),
  template: optional(string),
};

/**
 * Makes a model from a GGUF file that runs inside the process with llama.cpp (package `node-llama-cpp`, an optional peer). Takes the path of a
 * file, or the name of a model that `writ models pull` fetched.
 *
 * Nothing is loaded before the first request. Models with the same file and options share one copy in memory and one queue. The chat
 * template of the file decides the form of messages; text of people and tools can never become a control token. A prompt that
 * continues the last one is not read again: `usage.cachedInputTokens` is the number of reused tokens, the rest was evaluated. Tools are
 * never called natively: the driver puts them in the prompt and holds the reply with a grammar.
 *
 * @throws WritError on a request: `model-file-missing`, `model-file-invalid`, `peer-missing`, `model-without-tools`, and `provider-failed`
 * if the prompt does not fit, a message has a file, the format is a schema, the grammar is wrong or the memory too small.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { llamaCpp } from "writ/llama-cpp";
 *
 * export const local = agent({
 *   name: "local",
 *   instructions: "Answer briefly.",
 *   model: llamaCpp("smollm2-135m", { temperature: 0.2, seed: 7 }),
 * });
 * ```
 */
export function llamaCpp(pathOrName: string, options: LlamaCppOptions = {}): LlamaCppModel {
  checkArguments("llamaCpp()", { pathOrName }, { pathOrName: filled });
  knownOptions("llamaCpp", options, known);
  const { gpu = false, parallel = 1, threads, contextSize, template } = options;
  atLeastOne("llamaCpp", { parallel, threads, contextSize, maxOutputTokens: options.maxOutputTokens });
  const path = pathOf(pathOrName);
  const name = basename(pathOrName).replace(/\.gguf$/i, "");
  let features: ModelFeatures | undefined;
  const engine = {
    path,
    name,
    gpu,
    parallel,
    ...(threads && { threads }),
    ...(contextSize && { contextSize }),
    ...(template && { template }),
  };
  const source: LlamaCppSource = { engine, defaults: settingsOf(options), hold: undefined };
  const dispose = async (): Promise<void> => {
    const taken = source.hold;
    source.hold = undefined;
    await taken?.release();
  };
  return {
    id: `llama-cpp/${name}`,
    settings: settingsData({ provider: "llama-cpp", ...engine, ...source.defaults }),
    get features() {
      return (features ??= featuresOf(path)) ?? withoutFile;
    },
    price: () => 0,
    stream: (request, streamOptions) =>
      whenAsked(async () => (await import("./llama-cpp-request.ts")).reply(source, request, streamOptions)),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** The number of weights below which a model is too weak for protocols that need judgement. */
const smallParameters = 1e9;
const withoutFile: ModelFeatures = { tools: false, format: "grammar", completion: true };

/** The features of the model, read from its file; undefined while the file cannot be read. */
function featuresOf(path: string): ModelFeatures | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return { ...withoutFile, small: readGgufSummary(path).parameters < smallParameters };
  } catch {
    return undefined; // the first request reports the error of the file
  }
}

function pathOf(pathOrName: string): string {
  const isPath = /[/\\]|\.gguf$/i.test(pathOrName) || existsSync(pathOrName);
  return isPath ? resolve(pathOrName) : modelPath(pathOrName);
}

function settingsOf({
  temperature,
  topP,
  topK,
  seed,
  maxOutputTokens,
  stopSequences,
}: LlamaCppOptions): ModelSettings {
  return withoutUndefined({ temperature, topP, topK, seed, maxOutputTokens, stopSequences });
}
