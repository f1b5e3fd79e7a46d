import { existsSync } from "node:fs";
import { type SqliteRuns, sqliteRuns } from "../adapters/sqlite/sqlite-runs.ts";
import { WritError } from "../error/writ-error.ts";
import type { OutputFlags } from "./options.ts";

/** The options of every command that has a store of runs. */
export interface StoreFlags extends OutputFlags {
  /** Default {@link defaultStore}. */
  readonly store?: string;
}

/** The file of the runs where no other one is named. */
export const defaultStore = "runs.db";

/** Opens the store of runs that `--store` names, or makes it. @throws WritError `database-failed` */
export function openStore({ store = defaultStore }: StoreFlags): SqliteRuns {
  return sqliteRuns(store);
}

/** Opens a store that is there already. @throws WritError `option-invalid` */
export function knownStore(flags: StoreFlags): SqliteRuns {
  const { store = defaultStore } = flags;
  if (existsSync(store)) return openStore(flags);
  const advice = "There is no such file. `writ run --durable` and `writ work` make one; name theirs.";
  throw new WritError("option-invalid", { option: "--store", value: store, advice });
}
