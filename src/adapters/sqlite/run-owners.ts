import { WritError } from "../../error/writ-error.ts";
import { type Life, lifeOf, type ProcessOwner, thisProcess } from "../process-owner.ts";
import { fromKey } from "../stored-text.ts";
import { type Database } from "./database.ts";
import { ownerLocks } from "./owner-lock.ts";

/** The owners of runs: each is an open store of a process. Its functions run inside a transaction, except those that free runs. */
export interface RunOwners {
  /** This owner, in the form of a run's row. */
  mine(): string;
  /** Takes the keys of runs, as a list of JSON. @throws WritError `run-claimed` while a live process has one, or its state is unknown */
  checkFree(runs: string): void;
  /** Does `freeDead` if this was not done for a while. True if it did. */
  freeDue(): boolean;
  /** Makes the runs of dead processes ready. True if there were any. */
  freeDead(): boolean;
  /** Gives this owner up. If it still has runs, it keeps them until its process, or its thread, ends. */
  close(): void;
}

/** An owner in the form of a row. Owners of earlier versions have no lock. */
interface RunOwner extends ProcessOwner {
  readonly lock?: string;
}

/** The time after which dead processes are looked for even if other runs are ready, so that their runs do not wait too long. */
const dueMs = 200;

/** The owners of the runs in a file. */
export function runOwners(database: Database): RunOwners {
  const path = database.prepare("PRAGMA database_list").get()?.["file"];
  const locks = typeof path === "string" && path !== "" ? ownerLocks(path) : undefined; // `:memory:` belongs to this store alone
  const here = thisProcess();
  const find = database.prepare(
    "SELECT id, owner FROM writ_runs WHERE owner IS NOT NULL AND id IN (SELECT value FROM json_each(?))",
  );
  const has = database.prepare("SELECT 1 FROM writ_runs WHERE owner = ? LIMIT 1");
  const others = database.prepare(
    "SELECT DISTINCT owner FROM writ_runs WHERE owner IS NOT NULL AND owner IS NOT ?",
  );
  const free = database.prepare(
    "UPDATE writ_runs SET owner = NULL, status = CASE status WHEN 'running' THEN 'ready' ELSE status END WHERE owner = ?",
  );
  let mine: string | undefined;
  let lookedAt = -Infinity;
  function freeDead(): boolean {
    lookedAt = performance.now();
    const dead = others
      .all(mine ?? null)
      .map(({ owner }) => String(owner))
      .filter((owner) => lifeIn(owner) === "dead");
    for (const owner of dead) free.run(owner);
    return dead.length > 0;
  }
  function lifeIn(text: string): Life {
    if (text === mine) return "alive";
    const { lock, ...owner } = readOwner(text);
    if (lock === undefined || locks === undefined) return lifeOf(owner);
    return locks.isHeld(lock) ? "alive" : "dead";
  }
  return {
    mine: () => (mine ??= JSON.stringify({ ...here, lock: locks?.take() })),
    freeDead,
    checkFree(runs) {
      for (const { id, owner } of find.all(runs)) {
        const life = lifeIn(String(owner));
        if (life === "dead") continue;
        const { pid, host } = readOwner(String(owner));
        throw new WritError("run-claimed", {
          id: fromKey(id),
          owner: `process ${pid}${placeOf(host, life)}`,
        });
      }
    },
    freeDue() {
      const isDue = performance.now() - lookedAt >= dueMs;
      if (isDue) freeDead();
      return isDue;
    },
    close() {
      if (mine === undefined) return;
      if (has.get(mine) === undefined) locks?.release();
      mine = undefined;
    },
  };
}

function placeOf(host: string, life: Life): string {
  if (life === "elsewhere") return ` on the machine "${host}", of which nothing is known here`;
  return host === thisProcess().host ? "" : ` of "${host}"`;
}

function readOwner(text: string): RunOwner {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a process wrote it here
  return JSON.parse(text) as RunOwner;
}
