import { isWritError, messageOf } from "../error/writ-error.ts";
import type { Model } from "../model/model.ts";
import { catalogue, type CatalogueModel, defaultModel } from "./model-files/catalogue.ts";
import { listModelFiles } from "./model-files/cache.ts";
import { type PullEvent, pullModel } from "./model-files/pull.ts";
import { llamaCpp } from "./model/llama-cpp.ts";
import { type OllamaModel, ollamaModels, ollamaRunning } from "./model/ollama.ts";
import { modelNamed } from "./model/resolve.ts";
import { whereInstalled } from "./peer.ts";

/** The best model of this machine with the reason for it, or the reason why there is none. */
export type FoundModel =
  | { readonly model: Model; readonly why: string }
  | { readonly model?: undefined; readonly why: string };

/** Options of {@link findModel}. */
export interface FindModelOptions {
  /** Called before and during a download. Default: it prints a line on standard error before. */
  readonly onFetch?: (event: FetchEvent) => void;
  readonly signal?: AbortSignal;
}

/** `begin` names the file: its name, size and licence are announced before the first byte. */
export type FetchEvent = { readonly type: "begin"; readonly file: CatalogueModel } | PullEvent;

/**
 * Finds the best available model: the one that `$WRIT_MODEL` names; otherwise a model of a running Ollama, preferably one that can call tools; otherwise
 * the small embedded one, whose file is fetched once if it is missing. If all of these fail, it returns no model, and the reason.
 *
 * @throws WritError `model-name-invalid` and similar errors for a wrong name in `$WRIT_MODEL`
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { findModel } from "writ/cli";
 *
 * const found = await findModel();
 * const greeter = agent({ name: "greeter", model: found.model ?? (() => `no model: ${found.why}`) });
 * ```
 */
export async function findModel(options: FindModelOptions = {}): Promise<FoundModel> {
  const choice = chooseModel(await lookAround());
  if (choice.type === "none") return { why: choice.why };
  if (choice.type === "fetch") return fetchEmbedded(choice, options);
  return { model: modelNamed(choice.name), why: choice.why };
}

/** Models and packages to choose from. */
export interface Surroundings {
  /** `$WRIT_MODEL`; undefined if it is not set or empty. */
  readonly wanted?: string;
  /** The models of the running Ollama, or the reason why there are none. */
  readonly ollama: readonly OllamaModel[] | { readonly why: string };
  /** True if `node-llama-cpp` is installed. */
  readonly canEmbed: boolean;
  /** The model that runs inside the process, and whether its file is present. */
  readonly embedded: CatalogueModel & { readonly present: boolean };
}

/** The choice that {@link findModel} makes. */
export type ModelChoice =
  | { readonly type: "ready"; readonly name: string; readonly why: string }
  | { readonly type: "fetch"; readonly name: string; readonly file: CatalogueModel; readonly why: string }
  | { readonly type: "none"; readonly why: string };

/** Chooses by the rule of {@link findModel}, and changes nothing. */
export function chooseModel({ wanted, ollama, canEmbed, embedded }: Surroundings): ModelChoice {
  if (wanted !== undefined) return { type: "ready", name: wanted, why: "WRIT_MODEL names it" };
  const best = "why" in ollama ? undefined : bestOf(ollama);
  if (best !== undefined) {
    const why =
      best.capabilities?.includes("tools") === true
        ? "it runs in Ollama and can call tools"
        : "it runs in Ollama";
    return { type: "ready", name: `ollama/${best.name}`, why };
  }
  const noOllama = "why" in ollama ? ollama.why : "Ollama has no model that writes text";
  if (!canEmbed)
    return { type: "none", why: `${noOllama}, and node-llama-cpp is not installed (npm i node-llama-cpp)` };
  const name = `llama-cpp/${embedded.name}`;
  if (embedded.present) return { type: "ready", name, why: `${noOllama}; this one runs inside the process` };
  return { type: "fetch", name, file: embedded, why: `${noOllama}; this one runs inside the process` };
}

/** Reads the environment, Ollama, the installed packages and the model files. Takes 3 seconds at most, and fetches nothing. */
export async function lookAround(): Promise<Surroundings> {
  const wanted = process.env["WRIT_MODEL"]?.trim();
  const embedded = listModelFiles().find(({ name }) => name === defaultModel);
  if (embedded === undefined)
    throw new TypeError(
      `the catalogue has no ${defaultModel}, only ${catalogue.map(({ name }) => name).join(", ")}`,
    );
  return {
    ...(wanted === undefined || wanted === "" ? {} : { wanted }),
    ollama: await lookAtOllama(),
    canEmbed: isInstalled("node-llama-cpp"),
    embedded,
  };
}

/** True if writ can import an optional package. */
export function isInstalled(name: string): boolean {
  return whereInstalled(name) !== undefined;
}

const listMs = 2_000;

async function lookAtOllama(): Promise<Surroundings["ollama"]> {
  if (!(await ollamaRunning())) return { why: "no Ollama answers" };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ readonly why: string }>((resolve) => {
    timer = setTimeout(
      () => resolve({ why: `Ollama runs, but does not list its models within ${listMs / 1000} s` }),
      listMs,
    );
  });
  try {
    return await Promise.race([ollamaModels(), late]);
  } catch (error) {
    const why = isWritError(error, "peer-missing")
      ? `Ollama runs, but the package "ollama" is not installed (${error.data.command})`
      : messageOf(error);
    return { why };
  } finally {
    clearTimeout(timer);
  }
}

/** The first model that can call tools, otherwise the first that may; models of the cloud come last, and models that only embed are left out. */
function bestOf(models: readonly OllamaModel[]): OllamaModel | undefined {
  const writing = models.filter(
    ({ capabilities }) =>
      capabilities === undefined || capabilities.includes("completion") || capabilities.includes("tools"),
  );
  return writing.toSorted((a, b) => rank(a) - rank(b))[0];
}

function rank({ capabilities, sizeBytes }: OllamaModel): number {
  return (capabilities?.includes("tools") === true ? 0 : 2) + (sizeBytes > 0 ? 0 : 1);
}

async function fetchEmbedded(
  { file, why }: Extract<ModelChoice, { readonly type: "fetch" }>,
  options: FindModelOptions,
): Promise<FoundModel> {
  const { onFetch = announce, signal } = options;
  onFetch({ type: "begin", file });
  try {
    await pullModel(file.name, { onEvent: onFetch, signal });
  } catch (error) {
    signal?.throwIfAborted();
    return { why: `${why}, but it cannot be fetched: ${messageOf(error)}` };
  }
  return { model: llamaCpp(file.name), why };
}

function announce(event: FetchEvent): void {
  if (event.type !== "begin") return;
  const { name, sizeBytes, licence } = event.file;
  process.stderr.write(
    `Fetching the model ${name}: ${Math.ceil(sizeBytes / 1e6)} MB, licence ${licence}, once.\n`,
  );
}
