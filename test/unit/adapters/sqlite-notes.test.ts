import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { trustedLabel } from "../../../src/message/label.ts";
import { sqliteNotes } from "../../../src/sqlite.ts";

it("a note that was forgotten or replaced leaves none of its words in the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-notes-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "notes.db");
  using notes = sqliteNotes(file);
  const label = trustedLabel;
  const id = await notes.put("kim", { text: "drinks tea", label }, 9);
  await notes.put("kim", { text: "drinks cocoa", label, ...(id === undefined ? {} : { replaces: id }) }, 9);
  const gone = await notes.put("kim", { text: "was ill", label }, 9);
  await notes.remove("kim", gone ?? "");
  using database = new DatabaseSync(file, { readOnly: true });
  const words = database.prepare("SELECT text FROM writ_note_words").all();
  expect(words.map(({ text }) => text)).toEqual(["drinks cocoa"]);
});
