/**
 * Stores of accounts, memory, notes, runs and sessions in SQLite, with Node's own `node:sqlite`: a file that several processes may share.
 *
 * @module writ/sqlite
 */
export { sqliteAccounts, type SqliteAccounts } from "./adapters/sqlite/sqlite-accounts.ts";
export { sqliteMemory, type SqliteMemory } from "./adapters/sqlite/sqlite-memory.ts";
export { sqliteNotes, type SqliteNotes } from "./adapters/sqlite/sqlite-notes.ts";
export { sqliteRuns, type SqliteRuns } from "./adapters/sqlite/sqlite-runs.ts";
export { sqliteSessions, type SqliteSessions } from "./adapters/sqlite/sqlite-sessions.ts";
