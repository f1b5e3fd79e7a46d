import type { Checkpoint } from "../loop/checkpoint.ts";
import type { RunOptions, RunResult } from "./runnable.ts";

/** How a run that is walked through is begun. */
export interface Walking {
  readonly options: RunOptions;
  readonly onTurn: (state: Checkpoint) => Promise<void>;
}

/**
 * Walks through a run turn by turn: the run waits after each turn until its reader asks for the next. Leaving early cancels it.
 */
export async function* walkTurns<Output>(
  options: RunOptions,
  run: (walking: Walking) => Promise<RunResult<Output>>,
): AsyncGenerator<Checkpoint, RunResult<Output>> {
  const left = new AbortController();
  const given = options.signal ?? options.abortSignal;
  const signal = given === undefined ? left.signal : AbortSignal.any([given, left.signal]);
  let arrived = Promise.withResolvers<Checkpoint | undefined>();
  let goOn: (() => void) | undefined;
  const onTurn = (state: Checkpoint): Promise<void> => {
    arrived.resolve(state);
    if (state.status !== "running" || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      goOn = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  };
  const work = run({ options: { ...options, signal }, onTurn });
  work.then(
    () => arrived.resolve(undefined),
    () => arrived.resolve(undefined),
  );
  try {
    for (;;) {
      const state = await arrived.promise;
      if (state === undefined) break;
      arrived = Promise.withResolvers();
      if (state.status === "running") yield state;
      else {
        yield state;
        break;
      }
      goOn?.();
    }
    return await work;
  } finally {
    left.abort(new Error("nobody reads the run any more"));
  }
}
