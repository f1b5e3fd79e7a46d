import type { Checkpoint } from "../run/checkpoint.ts";
import { channel } from "../util/channel.ts";
import type { RunResult } from "./runnable.ts";
import type { RunOptions } from "./run-options.ts";

/** Options of a run that is walked through, and the listener of its turns. */
export interface Walking {
  readonly options: RunOptions;
  readonly onTurn: (state: Checkpoint) => Promise<void>;
}

/**
 * Walks through a run turn by turn: after each turn the run waits until its reader asks for the next; the last state says how it ended.
 * Leaving before that cancels the run, and waits until it has ended and is in its session.
 */
export async function* walkTurns<Output>(
  options: RunOptions,
  run: (walking: Walking) => Promise<RunResult<Output>>,
): AsyncGenerator<Checkpoint, RunResult<Output>> {
  const left = new AbortController();
  const { signal: given } = options;
  const signal = given === undefined ? left.signal : AbortSignal.any([given, left.signal]);
  const states = channel<Checkpoint>();
  let goOn: (() => void) | undefined;
  signal.addEventListener("abort", () => goOn?.(), { once: true });
  const onTurn = async (state: Checkpoint): Promise<void> => {
    states.push(state);
    if (state.status === "running" && !signal.aborted) await new Promise<void>((resolve) => (goOn = resolve));
  };
  let hasEnded = false;
  const work = run({ options: { ...options, signal }, onTurn });
  work.then(
    () => states.close(),
    () => states.close(), // thrown below
  );
  try {
    for await (const state of states) {
      hasEnded = state.status !== "running";
      yield state;
      goOn?.();
    }
    return await work;
  } finally {
    if (!hasEnded) left.abort(new Error("nobody reads the run any more"));
    await work.catch(() => undefined); // thrown above, where it was read to its end
  }
}
