/**
 * Stores of durable runs, sessions, accounts, memory and notes in PostgreSQL, for processes on many machines. They need the package `pg`.
 *
 * @module writ/postgres
 */
export { type PostgresAccounts, postgresAccounts } from "./adapters/postgres/postgres-accounts.ts";
export { type PostgresOptions } from "./adapters/postgres/options.ts";
export { type PostgresMemory, postgresMemory } from "./adapters/postgres/postgres-memory.ts";
export { type PostgresNotes, postgresNotes } from "./adapters/postgres/postgres-notes.ts";
export { type PostgresRuns, postgresRuns } from "./adapters/postgres/postgres-runs.ts";
export { type PostgresSessions, postgresSessions } from "./adapters/postgres/postgres-sessions.ts";
