import { sqliteRuns } from "../../src/sqlite.ts";
import type { DispatcherUnderTest, OpenDispatched } from "./dispatcher.ts";
import { sqliteUnderTest } from "./run-store-sqlite.ts";

export const openDispatched: OpenDispatched = (address) => ({ store: sqliteRuns(address) });

/** The workers of a SQLite file, which take the runs by themselves. */
export const sqliteDispatched: DispatcherUnderTest = {
  module: import.meta.url,
  openDispatched,
  place: sqliteUnderTest.place,
};
