/**
 * Stores of durable runs, sessions and accounts in PostgreSQL, for processes on many machines. They need the package `pg`.
 *
 * @module writ/postgres
 */
export { type PostgresAccounts, postgresAccounts } from "./adapters/postgres/postgres-accounts.ts";
export { type PostgresOptions } from "./adapters/postgres/options.ts";
export { type PostgresRuns, postgresRuns } from "./adapters/postgres/postgres-runs.ts";
export { type PostgresSessions, postgresSessions } from "./adapters/postgres/postgres-sessions.ts";
