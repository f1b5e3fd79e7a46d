import type { QuestionFilter } from "../durable/run-store.ts";
import type { ListStatement } from "./run-list.ts";
import { wholeLimit } from "./stored-run.ts";
import { toKey, toKeyPrefix } from "./stored-text.ts";

/** The SQL of a database for a list of open questions. */
export interface QuestionWords {
  /** The statement up to its last fixed condition. */
  readonly select: string;
  readonly table: string;
  /** The column with the id of the run. */
  readonly id: string;
  /** The value by which a question names the run of an id. */
  readonly asker: (id: string) => string;
  readonly startsWith: (column: string, text: string) => string;
  /** The condition of a run whose agent is in a list of JSON. */
  readonly ofAgents: (list: string) => string;
}

/** The statement that lists the open questions of all runs, or of one. It has only the wanted conditions. */
export function questionStatement(
  id: string | undefined,
  { agents, prefix = "", after, limit = Infinity }: QuestionFilter,
  words: QuestionWords,
): ListStatement {
  const values: (string | number)[] = [];
  const given = (value: string | number): string => `$${values.push(value)}`;
  const all = [words.select];
  if (id !== undefined) all.push(`${words.id} = ${given(toKey(id))}`);
  if (agents !== undefined) all.push(words.ofAgents(given(JSON.stringify(agents.map(toKey)))));
  if (prefix !== "") all.push(words.startsWith(words.id, given(toKeyPrefix(prefix))));
  if (after !== undefined) {
    const [since, asker, key] = [given(after.since), given(toKey(after.runId)), given(toKey(after.key))];
    const known = `SELECT place FROM ${words.table} WHERE run = ${words.asker(asker)} AND key = ${key}`;
    all.push(`(since, place) > (${since}, coalesce((${known}), 0))`); // one that was answered meanwhile has no place
  }
  return { sql: `${all.join(" AND ")} ORDER BY since, place LIMIT ${given(wholeLimit(limit))}`, values };
}
