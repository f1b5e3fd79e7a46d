import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Prints a table of recordings, and keeps it for `npm run recorded`, which makes a page of it. */
export function tellRows(table: "replies" | "replays" | "cuts", rows: readonly object[]): void {
  console.table(rows);
  const folder = process.env["WRIT_RECORDED_ROWS"];
  if (folder !== undefined) writeFileSync(join(folder, `${table}.json`), JSON.stringify(rows));
}
