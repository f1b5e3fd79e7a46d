import type { NewRun, RunEnd, StoredRun } from "../durable/run-store.ts";
import { fromKey } from "./stored-text.ts";

/** The columns of a run that every database has. */
export type RunRow = Readonly<Record<string, unknown>>;

/** All of a run that no statement asks for. */
export function startOf({
  agent,
  input,
  options,
  session,
  protocol,
  moves,
  fork,
}: NewRun & Pick<StoredRun, "moves">): string {
  return JSON.stringify({ agent, input, options, session, protocol, moves, fork });
}

/** The run of a row. */
export function runIn({ id, start, status, begun, ended, finish, protocol }: RunRow): StoredRun {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  const given = JSON.parse(String(start)) as Omit<NewRun, "id">;
  const form = protocol === undefined ? {} : { protocol: Number(protocol) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  const at = { status: status as StoredRun["status"], begunAt: Number(begun) };
  const run = { id: fromKey(id), ...given, ...form, ...at };
  if (ended === null) return run;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  return { ...run, endedAt: Number(ended), end: JSON.parse(String(finish)) as RunEnd };
}

/** The most runs to list as a database takes it, which knows no `Infinity`. */
export function wholeLimit(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER);
}
