import { readLabel } from "../message/label.ts";
import type { Note } from "../session/note-store.ts";
import { parseJson } from "../util/json.ts";
import { fromKey } from "./stored-text.ts";

/** The note of a row. */
export function noteOf(row: Readonly<Record<string, unknown>>): Note {
  const label = parseJson(String(row["label"]));
  return {
    id: fromKey(row["id"]),
    text: fromKey(row["text"]),
    label: readLabel(label.ok ? label.value : undefined),
  };
}
