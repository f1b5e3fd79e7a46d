import type { Label } from "../message/label.ts";
import { wordIndex } from "../util/word-index.ts";

/** One remembered thing, with its label. */
export interface Note {
  /** The id in its namespace: no other note ever gets it. */
  readonly id: string;
  readonly text: string;
  readonly label: Label;
}

/** A text for a namespace: a new note, or a new text for an existing one. */
export interface NewNote extends Omit<Note, "id"> {
  /** The id of the note that it replaces. */
  readonly replaces?: string;
}

/**
 * A store of notes in namespaces. Any text is a namespace, and a call only reads and changes the namespace that it names.
 */
export interface NoteStore {
  /**
   * Keeps a note and returns its id; undefined if the namespace already has `most` notes, or the note to replace does not exist. As a whole or not at all,
   * even if several write at once.
   */
  put(namespace: string, note: NewNote, most: number): Promise<string | undefined>;
  /** The notes with words of the query, best first; for a query without words, latest first. */
  search(namespace: string, query: string, limit: number): Promise<readonly Note[]>;
  /** Removes a note; returns false if there is none with that id. */
  remove(namespace: string, id: string): Promise<boolean>;
}

interface Namespace {
  readonly notes: Map<string, Note>;
  count: number;
}

/**
 * Keeps notes in the memory of this process, and finds them by their words. `sqliteNotes()` keeps them in a file, `postgresNotes()` in a database.
 *
 * @example
 * ```ts
 * import { inMemoryNotes, noteTools } from "writ/session";
 *
 * export const tools = noteTools({ store: inMemoryNotes(), namespace: "kim" });
 * ```
 */
export function inMemoryNotes(): NoteStore {
  const namespaces = new Map<string, Namespace>();
  const notesIn = (namespace: string): readonly Note[] => [
    ...(namespaces.get(namespace)?.notes.values() ?? []),
  ];
  return {
    async put(namespace, { replaces, text, label }, most) {
      const kept = namespaces.get(namespace) ?? { notes: new Map<string, Note>(), count: 0 };
      const { notes } = kept;
      if (replaces === undefined ? notes.size >= most : !notes.has(replaces)) return undefined;
      const id = replaces ?? `n${(kept.count += 1)}`;
      notes.delete(id); // the last written note is the latest
      notes.set(id, { id, text, label });
      namespaces.set(namespace, kept);
      return id;
    },
    async search(namespace, query, limit) {
      return bestNotes(notesIn(namespace).toReversed(), query).slice(0, limit);
    },
    async remove(namespace, id) {
      return namespaces.get(namespace)?.notes.delete(id) === true;
    },
  };
}

/**
 * The notes that fit a query, best first; of a query without words, all of them.
 *
 * @param latest the latest first
 * @param among the number of notes of the namespace, where `latest` has only those with words of the query
 */
export function bestNotes(latest: readonly Note[], query: string, among?: number): readonly Note[] {
  if (!hasWords(query)) return latest;
  const find = wordIndex(
    latest.map(({ text }) => [{ text, weight: 1 }]),
    among,
  );
  return find(query).flatMap(({ index }) => latest[index] ?? []);
}

/** True if there is something to search for. */
export function hasWords(query: string): boolean {
  return /[\p{L}\p{N}]/u.test(query);
}
