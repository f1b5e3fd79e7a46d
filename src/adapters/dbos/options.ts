/** The bounds of the runs of one agent, over all workers. */
export interface DbosQueue {
  /** The most runs that are carried out at a time. A run that waits is none of them. */
  readonly atOnce?: number;
  /** The most runs that begin, or go on after an answer, in so many seconds. */
  readonly rate?: { readonly most: number; readonly perSeconds: number };
}

/** Settings of a dispatcher by DBOS. */
export interface DbosOptions {
  /** The schema of the tables of DBOS, made when it is absent. Default `writ_dbos`. */
  readonly schema?: string;
  /** Bounds by the name of an agent; those of agents that other workers have may stand beside. Each agent has a queue of its own; one that is not named has no bounds but those of the workers. */
  readonly queues?: Readonly<Record<string, DbosQueue>>;
}

/** The tables of DBOS, and the bounds that it keeps. */
export interface DbosPlace {
  readonly url: string;
  readonly schema: string;
  readonly queues: Readonly<Record<string, DbosQueue>>;
}
