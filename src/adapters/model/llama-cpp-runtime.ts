import { availableParallelism } from "node:os";
import type * as NodeLlamaCpp from "node-llama-cpp";
import { messageOf } from "../../error/writ-error.ts";
import { importInstalled, importPeer } from "../peer.ts";
import { llamaFailed } from "./llama-cpp-failed.ts";

/** The loaded module `node-llama-cpp`. */
export type LlamaLibrary = typeof NodeLlamaCpp;

/** llama.cpp, ready to load models. */
export interface LlamaRuntime {
  readonly library: LlamaLibrary;
  readonly llama: NodeLlamaCpp.Llama;
  /** The threads of one evaluation. More than there are cores makes llama.cpp slower by orders of magnitude. */
  readonly threads: number;
}

/** The key of a runtime. */
export interface RuntimeOptions {
  /** Uses a GPU if there is one. */
  readonly gpu: boolean;
  /**
   * The threads. Default: the cores that this process may use, minus one. llama.cpp's threads wait for each other in a busy loop: if anything else
   * needs a core, as many threads as cores are ten times slower or more; one fewer costs at most a quarter of the speed.
   */
  readonly threads?: number;
}

// Depends on: all options of the runtime, which are its key.
const runtimes = new Map<string, Promise<LlamaRuntime>>();

/**
 * Loads `node-llama-cpp` and its prebuilt binary, once per set of options; never builds, never downloads.
 *
 * @throws WritError `peer-missing` if the package is not installed, `provider-failed` if it has no binary for this machine
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
