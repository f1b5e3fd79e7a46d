/** Settings of a store in PostgreSQL. */
export interface PostgresOptions {
  /** The schema of the tables, made when it is absent. Default `writ`. */
  readonly schema?: string;
  /** The most connections for statements. One more holds what this process has claimed. Default 10. */
  readonly connections?: number;
  /** Other settings of the package `pg`, like `ssl`. What the address says comes first: a function as `password` needs `host` and so on beside it. */
  readonly client?: Readonly<Record<string, unknown>>;
}
