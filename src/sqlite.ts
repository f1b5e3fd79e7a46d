/**
 * Accounts, memory, notes, runs and sessions in SQLite, through the Node that runs: a file that several processes may share.
 *
 * @module writ/sqlite
 */
export { sqliteAccounts, type SqliteAccounts } from "./adapters/sqlite/sqlite-accounts.ts";
export { sqliteMemory, type SqliteMemory } from "./adapters/sqlite/sqlite-memory.ts";
export { sqliteNotes, type SqliteNotes } from "./adapters/sqlite/sqlite-notes.ts";
export { sqliteRuns, type SqliteRuns } from "./adapters/sqlite/sqlite-runs.ts";
export { sqliteSessions, type SqliteSessions } from "./adapters/sqlite/sqlite-sessions.ts";
