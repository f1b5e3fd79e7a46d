import { postgresSessions } from "../../src/postgres.ts";
import type { SessionStore } from "../../src/session.ts";
import { sqliteSessions } from "../../src/sqlite.ts";

/** Opens the sessions of a file, or of a PostgreSQL, whose address has a schema behind `#`. */
export function openSessions(address: string): SessionStore & { readonly close: () => unknown } {
  const [place = "", schema] = address.split("#");
  return schema === undefined ? sqliteSessions(place) : postgresSessions(place, { schema, connections: 4 });
}
