import type { SessionClaims } from "../../session/session-store.ts";
import { lifeOf, type ProcessOwner, thisProcess } from "../process-owner.ts";
import { fromKey, toKey } from "../stored-text.ts";
import type { Database, LaterColumns } from "./database.ts";

/** The table of claimed sessions. */
export const claimTable = `
  CREATE TABLE IF NOT EXISTS writ_session_claims (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL, process TEXT
  ) STRICT;`;

export const laterClaims: LaterColumns = { writ_session_claims: ["process TEXT"] };

/** Claims on sessions in a file. The claim of a process of this machine is free as soon as the process is dead, unless another process goes on with its run; any other when its time is over. */
export function claimsIn(database: Database): SessionClaims {
  const mine = JSON.stringify(thisProcess());
  const find = database.prepare("SELECT owner, until, process FROM writ_session_claims WHERE id = ?");
  const put = database.prepare(
    "INSERT OR REPLACE INTO writ_session_claims (id, owner, until, process) VALUES (?, ?, ?, ?)",
  );
  const pass = database.prepare(
    "UPDATE writ_session_claims SET owner = $owner, process = NULL WHERE id = $id AND owner IN (SELECT value FROM json_each($from))",
  );
  const release = database.prepare("DELETE FROM writ_session_claims WHERE id = ? AND owner = ?");
  const releaseLater = database.prepare(
    "UPDATE writ_session_claims SET until = ?, process = NULL WHERE id = ? AND owner = ?",
  );
  return {
    async take(id, owner, { forMs, outlives = false }) {
      return database.write(() => {
        const now = Date.now(); // one machine has one clock
        const found = find.get(toKey(id));
        const holder = found === undefined ? owner : fromKey(found["owner"]);
        const isHeld = holder !== owner && Number(found?.["until"]) > now && !isDead(found?.["process"]);
        if (isHeld) return holder;
        put.run(toKey(id), toKey(owner), now + forMs, outlives ? null : mine);
        return owner;
      });
    },
    async pass(id, from, owner) {
      const owners = JSON.stringify(from.map(toKey));
      return database.write(() => pass.run({ id: toKey(id), owner: toKey(owner), from: owners }).changes > 0);
    },
    async release(id, owner, afterMs) {
      database.write(() =>
        afterMs === undefined
          ? release.run(toKey(id), toKey(owner))
          : releaseLater.run(Date.now() + afterMs, toKey(id), toKey(owner)),
      );
    },
  };
}

/** True of a process of this machine that is known to be dead. Claims that outlive their process, and those of earlier versions, name none. */
function isDead(owner: unknown): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a process wrote it here
  return typeof owner === "string" && lifeOf(JSON.parse(owner) as ProcessOwner) === "dead";
}
