import type { SessionClaims } from "../../session/session-store.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { nowMs, type Query } from "./database.ts";
import type { SessionTables } from "./session-tables.ts";

/** Claims on sessions in a database, timed by its clock, so that the clocks of other machines do not matter. */
export function sessionClaims(query: Query, { claims }: SessionTables): SessionClaims {
  // A process that waits writes nothing, but asks again and again.
  const take = `WITH clock AS MATERIALIZED (SELECT ${nowMs} AS now),
    other AS MATERIALIZED (SELECT owner FROM ${claims}, clock WHERE id = $1 AND owner <> $2 AND until > now),
    mine AS (INSERT INTO ${claims} AS held (id, owner, until) SELECT $1, $2, now + $3::bigint FROM clock WHERE NOT EXISTS (SELECT FROM other)
      ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, until = excluded.until WHERE held.owner = excluded.owner OR held.until <= (SELECT now FROM clock)
      RETURNING owner)
    SELECT owner FROM other UNION ALL SELECT owner FROM mine`;
  const pass = `UPDATE ${claims} SET owner = $2 WHERE id = $1 AND owner = ANY($3) RETURNING id`;
  const release = `DELETE FROM ${claims} WHERE id = $1 AND owner = $2`;
  const releaseLater = `UPDATE ${claims} SET until = ${nowMs} + $3::bigint WHERE id = $1 AND owner = $2`;
  return {
    async take(id, owner, { forMs }) {
      for (;;) {
        const [holder] = await query(take, [toKey(id), toKey(owner), forMs]);
        if (holder !== undefined) return fromKey(holder["owner"]); // otherwise another process took it at the same moment
      }
    },
    async pass(id, from, owner) {
      return (await query(pass, [toKey(id), toKey(owner), from.map(toKey)])).length > 0;
    },
    async release(id, owner, afterMs) {
      if (afterMs === undefined) await query(release, [toKey(id), toKey(owner)]);
      else await query(releaseLater, [toKey(id), toKey(owner), afterMs]);
    },
  };
}
