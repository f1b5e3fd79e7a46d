import type { StoredRun } from "./run-store.ts";

/** A run that can go on, as a dispatcher hands it out. */
export type DispatchedRun = Pick<StoredRun, "id" | "agent">;

/**
 * Decides which run goes on where and when. The store stays the record, and only one process at a time has a run: a dispatcher that hands out a run twice,
 * late, or although it cannot go on, does no harm. One that loses runs would do harm, so it has to check the store from time to time: a process can
 * die between writing the store and waking the dispatcher.
 */
export interface Dispatcher {
  /** Notes that a run can go on: it was started, answered or retried, and the store knows. */
  wake(run: DispatchedRun): Promise<void>;
  /** Starts handing out runs to a worker. */
  serve(place: Workplace): Serving;
}

/** A worker, as a dispatcher sees it. */
export interface Workplace {
  /** The names of the agents that carry out runs here. */
  readonly agents: readonly string[];
  /** The number of runs that the worker wants now: those that stand in line for their session, so that others can go on, come on top. */
  readonly concurrency: number;
  /** The ids of the runs that the worker carries out now. */
  readonly runs: readonly string[];
  /**
   * Takes a run, or the oldest one, from the store and starts carrying it out; `done` resolves when it has ended, waits or was given up. Undefined if the run
   * cannot go on or a live process has it. Rejects if the store fails; the author was told by then.
   */
  begin(id?: string): Promise<{ readonly done: Promise<void> } | undefined>;
  /** True for a run that has not ended and does not wait. */
  canGoOn(id: string): Promise<boolean>;
  /** Some ready runs of these agents, from the store: if there are many, others each time, until all were named. */
  ready(): Promise<readonly DispatchedRun[]>;
}

/** A dispatcher at work for one worker. */
export interface Serving {
  /** Called when something may have changed: the store reported it, a run was given up, or some time has passed. */
  look(): void;
  /** Stops handing out runs. Resolves when none is being handed out; runs that the worker gives up meanwhile are left to others. */
  leave(): Promise<void>;
}
