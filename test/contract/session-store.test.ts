import { sqliteSessions } from "../../src/adapters/sqlite/sqlite-sessions.ts";
import { inMemorySessions } from "../../src/session/in-memory-sessions.ts";
import type { SessionStore } from "../../src/session/session-store.ts";
import { sessionClaimsContract, sessionRunsContract } from "./session-runs.ts";
import { sessionStoreContract } from "./session-store.ts";

const openSqlite = (): SessionStore => sqliteSessions(":memory:");

/** A store of somebody who has not heard of claims. */
function withoutClaims(): SessionStore {
  const { claims: _claims, ...store } = inMemorySessions();
  return store;
}

sessionStoreContract("in memory", inMemorySessions);
sessionStoreContract("SQLite", openSqlite);
sessionClaimsContract("in memory", inMemorySessions);
sessionClaimsContract("SQLite", openSqlite);
sessionRunsContract("in memory", inMemorySessions);
sessionRunsContract("SQLite", openSqlite);
sessionRunsContract("a store without claims", withoutClaims);
