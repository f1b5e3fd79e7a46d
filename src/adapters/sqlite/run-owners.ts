import { WritError } from "../../error/writ-error.ts";
import { lifeOf, type ProcessOwner, thisProcess } from "../process-owner.ts";
import { toKey } from "../stored-text.ts";
import { type Database } from "./database.ts";

/** The processes that have runs. Its functions are parts of a transaction. */
export interface RunOwners {
  /** This process, as it stands in the row of a run that it has. */
  readonly mine: string;
  /** @throws WritError `run-claimed` while a process that lives has the run, or nobody can tell whether it lives */
  checkFree(runId: string): void;
  /** Does `freeDead` where nobody has looked for a while. True where it did. */
  freeDue(): boolean;
  /** Makes the runs of processes that died ready. True where there were some. */
  freeDead(): boolean;
}

/** The time after which processes that died are looked for though other runs are ready, which would keep theirs waiting. */
const dueMs = 200;

/** The owners of the runs in a file. */
export function runOwners(database: Database): RunOwners {
  const mine = JSON.stringify(thisProcess());
  const find = database.prepare("SELECT owner FROM writ_runs WHERE id = ?");
  const others = database.prepare(
    "SELECT DISTINCT owner FROM writ_runs WHERE owner IS NOT NULL AND owner <> ?",
  );
  const free = database.prepare(
    "UPDATE writ_runs SET owner = NULL, status = CASE status WHEN 'running' THEN 'ready' ELSE status END WHERE owner = ?",
  );
  let lookedAt = -Infinity;
  function freeDead(): boolean {
    lookedAt = performance.now();
    const dead = others
      .all(mine)
      .map(({ owner }) => String(owner))
      .filter((owner) => lifeOf(readOwner(owner)) === "dead");
    for (const owner of dead) free.run(owner);
    return dead.length > 0;
  }
  return {
    mine,
    freeDead,
    checkFree(runId) {
      const found = find.get(toKey(runId))?.["owner"];
      if (typeof found !== "string") return;
      const other = readOwner(found);
      const life = lifeOf(other);
      if (life === "dead") return;
      const where = life === "alive" ? "" : ` on the machine "${other.host}", of which nothing is known here`;
      throw new WritError("run-claimed", { id: runId, owner: `process ${other.pid}${where}` });
    },
    freeDue() {
      const isDue = performance.now() - lookedAt >= dueMs;
      if (isDue) freeDead();
      return isDue;
    },
  };
}

function readOwner(text: string): ProcessOwner {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a process wrote it here
  return JSON.parse(text) as ProcessOwner;
}
