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
 * Keeps notes in the memory of this process, and finds them by their words. `sqliteNotes()` keeps them in a file.
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
      const latest = notesIn(namespace).toReversed();
      if (!hasWords(query)) return latest.slice(0, limit);
      const hits = wordIndex(latest.map(({ text }) => [{ text, weight: 1 }]))(query);
      return hits.slice(0, limit).flatMap(({ index }) => latest[index] ?? []);
    },
    async remove(namespace, id) {
      return namespaces.get(namespace)?.notes.delete(id) === true;
    },
  };
}

/** True if there is something to search for. */
function hasWords(query: string): boolean {
  return /[\p{L}\p{N}]/u.test(query);
}
