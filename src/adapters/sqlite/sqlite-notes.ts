import { createHash, randomBytes } from "node:crypto";
import { bestNotes, hasWords, type Note, type NoteStore } from "../../session/note-store.ts";
import { indexedWords, wantedWords } from "../../util/word-index.ts";
import { noteOf } from "../stored-note.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { type Database, type LaterColumns, openDatabase, type OpenStore } from "./database.ts";

/** Notes in a SQLite file. */
export interface SqliteNotes extends NoteStore, OpenStore {}

const wordTable =
  "CREATE VIRTUAL TABLE IF NOT EXISTS writ_note_words USING fts5 (text, tokenize = 'unicode61')";
const tables = `
  CREATE TABLE IF NOT EXISTS writ_notes (
    place INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, label TEXT NOT NULL,
    spread INTEGER, UNIQUE (namespace, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS writ_notes_to_index ON writ_notes (place) WHERE spread IS NOT 2;
  ${wordTable};`;

/** Is 2 for notes whose words are in the index in the form of `wordsIn`. Notes of earlier versions are not. */
const later: LaterColumns = { writ_notes: ["spread INTEGER"] };

/** The most words of a query that are searched; the rest of a longer query adds little. */
const maxWords = 32;

/**
 * Keeps notes in a SQLite file, which several processes of one machine can share, and finds them as `inMemoryNotes()` does. Notes survive a crash of the process and of the machine. Sessions and memory can be in the same file. Each call blocks the
 * process while it reads or writes, and up to 5 seconds if another process writes.
 *
 * @throws WritError `database-failed`; so do the calls of the store
 * @example
 * ```ts
 * import { noteTools } from "writ/session";
 * import { sqliteNotes } from "writ/sqlite";
 *
 * export const tools = noteTools({ store: sqliteNotes("notes.db"), namespace: "kim" });
 * ```
 */
export function sqliteNotes(path: string): SqliteNotes {
  const database = openDatabase(path, tables, later);
  renewWords(database);
  const statements = {
    count: database.prepare("SELECT count(*) AS count FROM writ_notes WHERE namespace = ?"),
    find: database.prepare("SELECT place FROM writ_notes WHERE namespace = ? AND id = ?"),
    insert: database.prepare(
      "INSERT INTO writ_notes (namespace, id, text, label, spread) VALUES (?, ?, ?, ?, 2)",
    ),
    remove: database.prepare("DELETE FROM writ_notes WHERE place = ?"),
    addWords: database.prepare("INSERT INTO writ_note_words (rowid, text) VALUES (?, ?)"),
    removeWords: database.prepare("DELETE FROM writ_note_words WHERE rowid = ?"),
    toIndex: database.prepare("SELECT place, namespace, text FROM writ_notes WHERE spread IS NOT 2"),
    markIndexed: database.prepare("UPDATE writ_notes SET spread = 2 WHERE spread IS NOT 2"),
    latest: database.prepare(
      "SELECT id, text, label FROM writ_notes WHERE namespace = ? ORDER BY place DESC LIMIT ?",
    ),
    search: database.prepare(
      `SELECT id, text, label FROM writ_notes WHERE namespace = ?
      AND place IN (SELECT rowid FROM writ_note_words WHERE writ_note_words MATCH ?) ORDER BY place DESC`,
    ),
  };

  function takeOut(namespace: string, id: string): boolean {
    const place = statements.find.get(toKey(namespace), toKey(id))?.["place"];
    if (place === undefined) return false;
    statements.removeWords.run(Number(place));
    statements.remove.run(Number(place));
    return true;
  }

  /** Indexes the words of notes from an earlier version again, once. */
  function indexEarlier(): void {
    if (database.read(() => statements.toIndex.get()) === undefined) return;
    database.write(() => {
      for (const { place, namespace, text } of statements.toIndex.all()) {
        statements.removeWords.run(Number(place));
        statements.addWords.run(Number(place), wordsIn(fromKey(namespace), fromKey(text)));
      }
      statements.markIndexed.run();
    });
  }

  /** The notes with words of a query, best first. Words that all texts have find nothing. */
  function found(namespace: string, query: string): readonly Note[] {
    const words = searchFor(namespace, query);
    if (words === "") return [];
    const [rows, among] = database.read(() => [
      statements.search.all(toKey(namespace), words),
      Number(statements.count.get(toKey(namespace))?.["count"]),
    ]);
    return bestNotes(rows.map(noteOf), query, among);
  }

  const { close, [Symbol.dispose]: dispose } = database;
  return {
    async put(namespace, { text, label, replaces }, most) {
      return database.write(() => {
        const count = Number(statements.count.get(toKey(namespace))?.["count"]);
        if (replaces === undefined ? count >= most : !takeOut(namespace, replaces)) return undefined;
        const id = replaces ?? randomBytes(5).toString("hex");
        const values = [toKey(namespace), toKey(id), toKey(text), JSON.stringify(label)] as const;
        statements.addWords.run(statements.insert.run(...values).lastInsertRowid, wordsIn(namespace, text));
        return id;
      });
    },
    async search(namespace, query, limit) {
      indexEarlier();
      if (hasWords(query)) return found(namespace, query).slice(0, limit);
      return database.read(() => statements.latest.all(toKey(namespace), limit)).map(noteOf);
    },
    async remove(namespace, id) {
      return database.write(() => takeOut(namespace, id));
    },
    close,
    [Symbol.dispose]: dispose,
  };
}

/** Makes the table of words anew in a file of an earlier version, which kept the words of all namespaces as one. */
function renewWords(database: Database): void {
  const earlier = database.prepare(
    "SELECT 1 FROM sqlite_schema WHERE name = 'writ_note_words' AND sql LIKE '%porter%'",
  );
  if (database.read(() => earlier.get()) === undefined) return;
  database.write(() => {
    if (earlier.get() === undefined) return; // another process was first
    database.prepare("DROP TABLE writ_note_words").run();
    database.prepare(wordTable).run();
    database.prepare("UPDATE writ_notes SET spread = NULL").run();
  });
}

/** The words of a text as the index has them: each begins with the sign of its namespace, so that a search reads words of one namespace. */
function wordsIn(namespace: string, text: string): string {
  const sign = signOf(namespace);
  return indexedWords(text)
    .map((word) => sign + word)
    .join(" ");
}

/** The search for notes with a word that begins with one of a query, in the syntax of FTS5. Words are letters and digits: nothing in them is syntax. */
function searchFor(namespace: string, query: string): string {
  const sign = signOf(namespace);
  const words = wantedWords(query).slice(0, maxWords);
  return words.map((word) => `"${sign}${word}"*`).join(" OR ");
}

/** The sign of a namespace. Two may share one: a search then reads words of both, and finds notes of one. */
function signOf(namespace: string): string {
  return createHash("sha256").update(toKey(namespace)).digest("hex").slice(0, 16);
}
