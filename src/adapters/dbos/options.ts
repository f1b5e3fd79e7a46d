/** The bounds of the runs of one agent, over all workers. */
export interface DbosQueue {
  /** The most runs that are carried out at a time. A waiting run does not count. */
  readonly atOnce?: number;
  /** The most runs that begin, or go on after an answer, in this many seconds. */
  readonly rate?: { readonly most: number; readonly perSeconds: number };
}

/** Settings of a dispatcher by DBOS. */
export interface DbosOptions {
  /** The schema of the tables of DBOS, made if it is absent. Default `writ_dbos`. */
  readonly schema?: string;
  /**
   * Bounds by the name of an agent, also of agents of other workers. Each agent has a queue of its own; without an entry only the bounds of the workers apply.
   */
  readonly queues?: Readonly<Record<string, DbosQueue>>;
}

/** The tables of DBOS, with the bounds that it enforces. */
export interface DbosPlace {
  readonly url: string;
  readonly schema: string;
  readonly queues: Readonly<Record<string, DbosQueue>>;
}
