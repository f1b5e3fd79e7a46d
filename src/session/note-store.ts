import type { Label } from "../message/label.ts";
import { wordIndex } from "../util/word-index.ts";

/** One thing that was remembered, and where it comes from. */
export interface Note {
  /** Its name in its namespace: another note never gets the name. */
  readonly id: string;
  readonly text: string;
  readonly label: Label;
}

/** A text for a namespace: a new note, or another text for one that is there. */
export interface NewNote extends Omit<Note, "id"> {
  /** The note whose place it takes. */
  readonly replaces?: string;
}

/**
 * A store of notes in namespaces. Any text is a namespace, and no call reads or changes anything in another one than it names.
 */
export interface NoteStore {
  /**
   * Keeps a note and gives its id; undefined where the namespace has `most` notes already, or no note that is to be replaced. Whole or not at all,
   * also when several write at once.
   */
  put(namespace: string, note: NewNote, most: number): Promise<string | undefined>;
  /** The notes with words of the query, the best first; for a query without words the latest first. */
  search(namespace: string, query: string, limit: number): Promise<readonly Note[]>;
  /** Takes a note out; false when there is none of the id. */
  remove(namespace: string, id: string): Promise<boolean>;
}

interface Namespace {
  readonly notes: Map<string, Note>;
  count: number;
}

/**
 * Keeps notes as long as the process lives, and finds them by their words. `sqliteNotes()` keeps them in a file.
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
      notes.delete(id); // what was written last is the latest
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
