/**
 * A store of durable runs in PostgreSQL, for processes on many machines. It needs the package `pg`.
 *
 * @module writ/postgres
 */
export { type PostgresOptions } from "./adapters/postgres/options.ts";
export { type PostgresRuns, postgresRuns } from "./adapters/postgres/postgres-runs.ts";
export { type PostgresSessions, postgresSessions } from "./adapters/postgres/postgres-sessions.ts";
