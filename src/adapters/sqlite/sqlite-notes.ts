import { randomBytes } from "node:crypto";
import type { NoteStore } from "../../session/note-store.ts";
import { spreadSigns, spreadWords } from "../../util/word-index.ts";
import { noteOf } from "../stored-note.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { type LaterColumns, openDatabase, type OpenStore } from "./database.ts";

/** Notes in a SQLite file. */
export interface SqliteNotes extends NoteStore, OpenStore {}

const tables = `
  CREATE TABLE IF NOT EXISTS writ_notes (
    place INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, label TEXT NOT NULL,
    spread INTEGER, UNIQUE (namespace, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS writ_notes_not_spread ON writ_notes (place) WHERE spread IS NULL;
  CREATE VIRTUAL TABLE IF NOT EXISTS writ_note_words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');`;

/** Marks notes whose words are in the index in the form of `spreadSigns`. Notes of earlier versions are not. */
const later: LaterColumns = { writ_notes: ["spread INTEGER"] };

/** The most words of a query that are searched; the rest of a longer query adds little. */
const maxWords = 32;

/**
 * Keeps notes in a SQLite file, which several processes of one machine can share, and finds them with its full-text search (FTS5), the best
 * first. Notes survive a crash of the process and of the machine. Sessions and memory can be in the same file. Each call blocks the
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
  const statements = {
    count: database.prepare("SELECT count(*) AS count FROM writ_notes WHERE namespace = ?"),
    find: database.prepare("SELECT place FROM writ_notes WHERE namespace = ? AND id = ?"),
    insert: database.prepare(
      "INSERT INTO writ_notes (namespace, id, text, label, spread) VALUES (?, ?, ?, ?, 1)",
    ),
    remove: database.prepare("DELETE FROM writ_notes WHERE place = ?"),
    addWords: database.prepare("INSERT INTO writ_note_words (rowid, text) VALUES (?, ?)"),
    removeWords: database.prepare("DELETE FROM writ_note_words WHERE rowid = ?"),
    notSpread: database.prepare("SELECT place, text FROM writ_notes WHERE spread IS NULL"),
    markSpread: database.prepare("UPDATE writ_notes SET spread = 1 WHERE spread IS NULL"),
    latest: database.prepare(
      "SELECT id, text, label FROM writ_notes WHERE namespace = ? ORDER BY place DESC LIMIT ?",
    ),
    search: database.prepare(
      `SELECT id, writ_notes.text AS text, label FROM writ_note_words JOIN writ_notes ON place = writ_note_words.rowid
      WHERE writ_note_words MATCH ? AND namespace = ? ORDER BY bm25(writ_note_words), place DESC LIMIT ?`,
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
  function spreadEarlier(): void {
    if (database.read(() => statements.notSpread.get()) === undefined) return;
    database.write(() => {
      for (const { place, text } of statements.notSpread.all()) {
        statements.removeWords.run(Number(place));
        statements.addWords.run(Number(place), spreadSigns(fromKey(text)));
      }
      statements.markSpread.run();
    });
  }

  const { close, [Symbol.dispose]: dispose } = database;
  return {
    async put(namespace, { text, label, replaces }, most) {
      return database.write(() => {
        const count = Number(statements.count.get(toKey(namespace))?.["count"]);
        if (replaces === undefined ? count >= most : !takeOut(namespace, replaces)) return undefined;
        const id = replaces ?? randomBytes(5).toString("hex");
        const values = [toKey(namespace), toKey(id), toKey(text), JSON.stringify(label)] as const;
        statements.addWords.run(statements.insert.run(...values).lastInsertRowid, spreadSigns(text));
        return id;
      });
    },
    async search(namespace, query, limit) {
      const words = wordsOf(query);
      spreadEarlier();
      const rows = database.read(() =>
        words === ""
          ? statements.latest.all(toKey(namespace), limit)
          : statements.search.all(words, toKey(namespace), limit),
      );
      return rows.map(noteOf);
    },
    async remove(namespace, id) {
      return database.write(() => takeOut(namespace, id));
    },
    close,
    [Symbol.dispose]: dispose,
  };
}

/** The words of a query in the syntax of FTS5: each matches words that begin with it, and any of them is enough. Syntax in the query itself has no effect. */
function wordsOf(query: string): string {
  return spreadWords(query)
    .slice(0, maxWords)
    .map((word) => `"${word}"*`)
    .join(" OR ");
}
