import { availableParallelism } from "node:os";
import type * as NodeLlamaCpp from "node-llama-cpp";
import { messageOf } from "../../error/writ-error.ts";
import { importInstalled, importPeer } from "../peer.ts";
import { llamaFailed } from "./llama-cpp-failed.ts";

/** The module `node-llama-cpp`, loaded. */
export type LlamaLibrary = typeof NodeLlamaCpp;

/** llama.cpp, ready to load models. */
export interface LlamaRuntime {
  readonly library: LlamaLibrary;
  readonly llama: NodeLlamaCpp.Llama;
  /** Threads that one evaluation uses. More than there are cores makes llama.cpp slower by orders of magnitude. */
  readonly threads: number;
}

/** Key of a runtime. */
export interface RuntimeOptions {
  /** Use a GPU when there is one. */
  readonly gpu: boolean;
  /**
   * Default: the cores that this process may use, but one. llama.cpp's threads wait for each other in a busy loop: where anything else
   * wants a core, as many threads as cores are ten times slower and more; one fewer costs a quarter of the speed at most.
   */
  readonly threads?: number;
}

// Depends on: all options of the runtime, which are its key.
const runtimes = new Map<string, Promise<LlamaRuntime>>();

/**
 * Loads `node-llama-cpp` and its prebuilt binary, once per set of options; never builds, never downloads.
 *
 * @throws WritError `peer-missing` when the package is not installed, `provider-failed` when it has no binary for this machine.
 */
export function openRuntime(options: RuntimeOptions): Promise<LlamaRuntime> {
  const key = JSON.stringify([options.gpu, options.threads]);
  const known = runtimes.get(key);
  if (known !== undefined) return known;
  const opening = openLibrary().then((library) => startRuntime(library, options));
  runtimes.set(key, opening);
  opening.catch(() => runtimes.delete(key));
  return opening;
}

/** Imports the optional peer. @throws WritError `peer-missing` */
function openLibrary(): Promise<LlamaLibrary> {
  return importPeer<LlamaLibrary>(() => importInstalled("node-llama-cpp"), {
    package: "node-llama-cpp",
    purpose: "models inside the process",
  });
}

async function startRuntime(library: LlamaLibrary, { gpu, threads }: RuntimeOptions): Promise<LlamaRuntime> {
  const cores = availableParallelism();
  try {
    const llama = await library.getLlama({
      gpu: gpu ? "auto" : false,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      logLevel: library.LlamaLogLevel.error,
      logger: () => undefined,
      maxThreads: threads ?? cores,
    });
    return { library, llama, threads: threads ?? Math.max(1, Math.min(cores, llama.cpuMathCores) - 1) };
  } catch (error) {
    const reason = `node-llama-cpp does not start on ${process.platform}-${process.arch}: ${messageOf(error)}`;
    throw llamaFailed("any", reason, error);
  }
}
