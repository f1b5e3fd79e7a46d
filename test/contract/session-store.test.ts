import { sqliteSessions } from "../../src/adapters/sqlite/sqlite-sessions.ts";
import { inMemorySessions } from "../../src/session/in-memory-sessions.ts";
import { sessionStoreContract } from "./session-store.ts";

sessionStoreContract("in memory", inMemorySessions);
sessionStoreContract("SQLite", () => sqliteSessions(":memory:"));
