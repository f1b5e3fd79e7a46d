import { randomBytes } from "node:crypto";
import { bestNotes, hasWords, type NoteStore } from "../../session/note-store.ts";
import { indexedWords, wantedWords } from "../../util/word-index.ts";
import { noteOf } from "../stored-note.ts";
import { toKey } from "../stored-text.ts";
import { postgresDatabase } from "./database.ts";
import { placeIn, type PostgresOptions } from "./options.ts";

/** Notes in a PostgreSQL database. */
export interface PostgresNotes extends NoteStore, AsyncDisposable {
  /** Closes the connections. It may be closed twice. */
  close(): Promise<void>;
}

/** The most words of a query that are searched; the rest of a longer query adds little. */
const maxWords = 32;
/** The most characters of a word in the index: PostgreSQL takes 2,046 bytes. */
const maxCharacters = 500;

/**
 * Keeps notes in PostgreSQL (the package `pg`, an optional peer), which processes of many machines share, and finds them as `inMemoryNotes()` does. They can be
 * in the database of the runs, and a pooler may stand before it. The tables are made with the first call; later ones wait a minute for a server that is away.
 *
 * @param url like `postgresql://user:password@host:5432/database`. Without it, the variables `PGHOST`, `PGUSER` and so on apply.
 * @throws WritError `definition-invalid`; from its functions `peer-missing`, `postgres-unreachable`, `postgres-refused`, `postgres-forbidden`, `postgres-failed`
 * @example
 * ```ts
 * import { noteTools } from "writ/session";
 * import { postgresNotes } from "writ/postgres";
 *
 * const store = postgresNotes("postgresql://writ@localhost/agents");
 * export const toolsOf = (user: string) => noteTools({ store, namespace: user });
 * ```
 */
export function postgresNotes(url?: string, options: PostgresOptions = {}): PostgresNotes {
  const place = placeIn("postgresNotes()", { url, options });
  const { tables, ...sql } = statements(`${place.schema}.notes`, `${place.schema}.note_spaces`);
  const { query, close } = postgresDatabase({ ...place, tables });

  async function add(id: string, values: readonly unknown[], most: number): Promise<boolean> {
    if ((await query(sql.insert, [...values, most])).length > 0) return true;
    const [namespace] = values;
    return (await query(sql.find, [namespace, toKey(id)])).length > 0; // it was kept, and the result was lost
  }

  return {
    async put(namespace, { text, label, replaces }, most) {
      const id = replaces ?? randomBytes(5).toString("hex");
      const values = [
        toKey(namespace),
        toKey(id),
        toKey(text),
        JSON.stringify(label),
        short(indexedWords(text)),
      ];
      const isKept =
        replaces === undefined
          ? most > 0 && (await add(id, values, most))
          : (await query(sql.replace, values)).length > 0;
      return isKept ? id : undefined;
    },
    async search(namespace, wanted, limit) {
      const rows = hasWords(wanted)
        ? await query(sql.search, [toKey(namespace), searchFor(wanted)])
        : await query(sql.latest, [toKey(namespace), limit]);
      return bestNotes(rows.map(noteOf), wanted, Number(rows[0]?.["among"])).slice(0, limit);
    },
    async remove(namespace, id) {
      return (await query(sql.remove, [toKey(namespace), toKey(id)])).length > 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Each change is one statement, which returns a row if it was made. A namespace counts its notes: of two that are put at once, the second sees the first. */
function statements(notes: string, spaces: string) {
  return {
    tables: {
      last: spaces,
      make: `
        CREATE TABLE ${notes} (
          place bigint GENERATED ALWAYS AS IDENTITY, namespace text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
          text text NOT NULL, label text NOT NULL, words tsvector NOT NULL, PRIMARY KEY (namespace, id)
        );
        CREATE INDEX ON ${notes} USING gin (words);
        CREATE TABLE ${spaces} (namespace text COLLATE "C" PRIMARY KEY, count bigint NOT NULL)`,
    },
    insert: `WITH room AS (
        INSERT INTO ${spaces} AS space (namespace, count)
        SELECT $1, 1 WHERE NOT EXISTS (SELECT FROM ${notes} WHERE namespace = $1 AND id = $2)
        ON CONFLICT (namespace) DO UPDATE SET count = space.count + 1 WHERE space.count < $6 RETURNING namespace
      )
      INSERT INTO ${notes} (namespace, id, text, label, words) SELECT namespace, $2, $3, $4, array_to_tsvector($5::text[]) FROM room RETURNING id`,
    find: `SELECT FROM ${notes} WHERE namespace = $1 AND id = $2`,
    replace: `UPDATE ${notes} SET place = DEFAULT, text = $3, label = $4, words = array_to_tsvector($5::text[])
      WHERE namespace = $1 AND id = $2 RETURNING id`,
    search: `SELECT id, text, label, (SELECT count FROM ${spaces} WHERE namespace = $1) AS among FROM ${notes} WHERE namespace = $1 AND words @@ $2::tsquery ORDER BY place DESC`,
    latest: `SELECT id, text, label FROM ${notes} WHERE namespace = $1 ORDER BY place DESC LIMIT $2`,
    remove: `WITH gone AS (DELETE FROM ${notes} WHERE namespace = $1 AND id = $2 RETURNING namespace)
      UPDATE ${spaces} AS space SET count = count - 1 FROM gone WHERE space.namespace = gone.namespace RETURNING count`,
  };
}

/** The search for notes with a word that begins with one of a query. Words are letters and digits: nothing in them is syntax. */
function searchFor(query: string): string {
  const words = short(wantedWords(query).slice(0, maxWords));
  return words.map((word) => `'${word}':*`).join(" | ");
}

function short(words: readonly string[]): readonly string[] {
  return words.map((word) => word.slice(0, maxCharacters));
}
