import type { StoredRun } from "./run-store.ts";

/** A run, as a dispatcher knows it. */
export type DispatchedRun = Pick<StoredRun, "id" | "agent">;

/**
 * Says which run goes on where and when. The store stays the record, and one process at a time has a run: a dispatcher that hands a run out twice,
 * late, or though it cannot go on does no harm. One that loses runs would: it has to look at the store from time to time, since a process can
 * die between the two.
 */
export interface Dispatcher {
  /** Notes that a run can go on: it was started, answered or tried again, and the store has that. */
  wake(run: DispatchedRun): Promise<void>;
  /** Begins to hand out runs to a worker. */
  serve(place: Workplace): Serving;
}

/** A worker, as a dispatcher sees it. */
export interface Workplace {
  /** The names of those who carry out runs here. */
  readonly agents: readonly string[];
  /** The runs that the worker wants at a time. */
  readonly concurrency: number;
  /** The ids of the runs that it carries out now. */
  readonly runs: readonly string[];
  /**
   * Takes a run from the store, or the oldest one, and begins to carry it out; `done` resolves when it has ended, waits or was given up. Undefined where it
   * cannot go on, or another process that lives has it. Rejects where the store fails, which its author was told.
   */
  begin(id?: string): Promise<{ readonly done: Promise<void> } | undefined>;
  /** True for a run that has not ended and waits for nobody. */
  canGoOn(id: string): Promise<boolean>;
  /** Some runs of these agents that are ready, in the store: where there are many, others each time, until all have been named. */
  ready(): Promise<readonly DispatchedRun[]>;
}

/** A dispatcher at work for one worker. */
export interface Serving {
  /** Something may have happened: the store told of it, a run was given up, or a moment went by. */
  look(): void;
  /** Hands out nothing more. Resolves when nothing is handed out any more; runs that the worker gives up meanwhile are left to others. */
  leave(): Promise<void>;
}
