/**
 * Runs and sessions in PostgreSQL, for processes of many machines. Needs the package `pg`.
 *
 * @module writ/postgres
 */
export { type PostgresOptions } from "./adapters/postgres/options.ts";
export { type PostgresRuns, postgresRuns } from "./adapters/postgres/postgres-runs.ts";
export { type PostgresSessions, postgresSessions } from "./adapters/postgres/postgres-sessions.ts";
