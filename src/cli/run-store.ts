import { existsSync } from "node:fs";
import type { RunStore } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import type { OutputFlags } from "./options.ts";

/** The options of every command that has a store of runs. */
export interface StoreFlags extends OutputFlags {
  /** Default: the variable `WRIT_STORE`, else {@link defaultStore}. */
  readonly store?: string;
}

/** The file of the runs where no other one is named. */
const defaultStore = "runs.db";

/** A store that is closed at the end of its command. */
export type OpenRuns = RunStore & (Disposable | AsyncDisposable);

const database = /^postgres(?:ql)?:/;

/** The place of the runs: a file, or the URL of a database without its password. */
export function nameOfStore(flags: StoreFlags): string {
  return nameOf(flags)
    .replace(/(:\/\/[^/@:]*):[^/?#]*@/, "$1:…@")
    .replace(/([?&]password=)[^&#]*/, "$1…");
}

function nameOf({ store }: StoreFlags): string {
  return store ?? process.env["WRIT_STORE"] ?? defaultStore;
}

/** Opens the store of runs that is meant, or makes it. @throws WritError `database-failed`, `peer-missing` */
export async function openStore(flags: StoreFlags): Promise<OpenRuns> {
  const name = nameOf(flags);
  if (database.test(name)) return (await import("../adapters/postgres/postgres-runs.ts")).postgresRuns(name);
  return (await import("../adapters/sqlite/sqlite-runs.ts")).sqliteRuns(name);
}

/** Opens a store that is there already. @throws WritError `option-invalid` */
export async function knownStore(flags: StoreFlags): Promise<OpenRuns> {
  const name = nameOf(flags);
  if (database.test(name) || existsSync(name)) return openStore(flags);
  const advice = "There is no such file. `writ run --durable` and `writ work` make one; name theirs.";
  throw new WritError("option-invalid", { option: "--store", value: name, advice });
}
