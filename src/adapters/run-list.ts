import { openStatuses, type RunFilter, type RunStatus } from "../durable/run-store.ts";
import { wholeLimit } from "./stored-run.ts";
import { toKey, toKeyPrefix } from "./stored-text.ts";

/** The SQL of a database for a list of runs. */
export interface ListWords {
  readonly table: string;
  readonly columns: string;
  /** The column that orders runs by their beginning. */
  readonly order: string;
  /** The same for the runs of a session. It must not be a way to find them: the latest runs of all sessions may have none. */
  readonly orderInSession: string;
  readonly startsWith: (column: string, text: string) => string;
  /** The column in a condition that must not use an index. */
  readonly unindexed: (column: string) => string;
  /** The table of questions, and the column by which they name their run. */
  readonly questions: string;
  readonly asker: string;
  /** The conditions of runs whose status differs from their column. */
  readonly standsAs?: Readonly<Partial<Record<RunStatus, string>>>;
}

/** A statement, with the values of its parameters `$1`, `$2`, ... */
export interface ListStatement {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** The statement that lists runs. It has only the wanted conditions: a condition that also holds for a null parameter would use no index. */
export function listStatement(wanted: RunFilter, words: ListWords): ListStatement {
  const { status, agent, session, before, prefix = "", asks, limit = 100 } = wanted;
  const { table, columns, order, startsWith, unindexed, standsAs } = words;
  const place = session === undefined ? order : words.orderInSession;
  const values: (string | number)[] = [];
  const given = (value: string | number): string => `$${values.push(value)}`;
  const all: string[] = [];
  if (session !== undefined) all.push(`session = ${given(toKey(session))}`);
  const isOpen = openStatuses.some((open) => open === status);
  if (session !== undefined && isOpen) all.push("ended IS NULL"); // an index has only these
  // A session has fewer runs than a status.
  if (status !== undefined)
    all.push(
      standsAs?.[status] ?? `${session === undefined ? "status" : unindexed("status")} = ${given(status)}`,
    );
  if (agent !== undefined) all.push(`agent = ${given(toKey(agent))}`);
  if (before !== undefined)
    all.push(`${place} < (SELECT ${order} FROM ${table} WHERE id = ${given(toKey(before))})`);
  if (prefix !== "") all.push(startsWith("id", given(toKeyPrefix(prefix))));
  if (asks !== undefined)
    all.push(
      `EXISTS (SELECT 1 FROM ${words.questions} WHERE run = ${words.asker} AND ${startsWith("key", given(toKeyPrefix(asks)))})`,
    );
  const where = all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`;
  return {
    sql: `SELECT ${columns} FROM ${table} ${where} ORDER BY ${place} DESC LIMIT ${given(wholeLimit(limit))}`,
    values,
  };
}
