import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { trustedLabel } from "../../../src/message/label.ts";
import { sqliteNotes } from "../../../src/sqlite.ts";
import { cpuMs } from "../../cpu-time.ts";

const label = trustedLabel;

/** The path of a file of a test. */
function ownFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-notes-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "notes.db");
}

const sentences = [
  "明天下午三点在东京开会",
  "お茶は四時に出ます。2024年の予定",
  "พรุ่งนี้ประชุมที่กรุงเทพ",
  "Kim 住在 Zürich",
  "김철수는 서울에 산다",
  "データを集める",
];
const searches: readonly (readonly [query: string, places: readonly number[]])[] = [
  ["东京", [0]],
  ["开会 明天", [0]],
  ["四時", [1]],
  ["茶", [1]],
  ["2024", [1]],
  ["ﾃﾞｰﾀ", [5]],
  ["กรุงเทพ", [2]],
  ["住在", [3]],
  ["zurich", [3]],
  ["서울", [4]],
  ["北京", []],
];

it.each(searches)("finds %j anywhere in a sentence that is written without spaces", async (query, places) => {
  using notes = sqliteNotes(":memory:");
  for (const text of sentences) await notes.put("kim", { text, label }, 9);
  const found = await notes.search("kim", query, 9);
  expect(found.map(({ text }) => sentences.indexOf(text))).toEqual(places);
});

it("finds notes in a file of an earlier version as its own, also those that a process of that version adds meanwhile", async () => {
  const file = ownFile();
  const earlier = new DatabaseSync(file);
  onTestFinished(() => earlier.close());
  earlier.exec(`
    CREATE TABLE writ_notes (
      place INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, label TEXT NOT NULL,
      UNIQUE (namespace, id)
    ) STRICT;
    CREATE VIRTUAL TABLE writ_note_words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');`);
  const put = earlier.prepare("INSERT INTO writ_notes (namespace, id, text, label) VALUES (?, ?, ?, ?)");
  const addWords = earlier.prepare("INSERT INTO writ_note_words (rowid, text) VALUES (?, ?)");
  const putEarlier = (text: string): void => {
    const values = ["kim", text, text].map((each) => JSON.stringify(each));
    addWords.run(
      put.run(...(values as [string, string, string]), JSON.stringify(label)).lastInsertRowid,
      text,
    );
  };
  sentences.slice(0, 3).forEach(putEarlier);
  using notes = sqliteNotes(file);
  using other = sqliteNotes(file);
  const found = async (query: string): Promise<readonly number[]> =>
    (await notes.search("kim", query, 9)).map(({ text }) => sentences.indexOf(text));
  expect(await found("东京")).toEqual([0]);
  sentences.slice(3).forEach(putEarlier);
  await other.remove("kim", sentences[0] ?? "");
  expect(await Promise.all(searches.map(([query]) => found(query)))).toEqual(
    searches.map(([, places]) => places.filter((place) => place > 0)),
  );
  expect(await other.search("kim", "", 9)).toHaveLength(5);
});

it("searches in a time that does not grow with the notes of other namespaces", async () => {
  const searchAmong = async (others: number): Promise<() => void> => {
    const notes = sqliteNotes(":memory:");
    onTestFinished(notes.close);
    for (let index = 0; index < others; index += 1)
      await notes.put(`user${index % 20}`, { text: "drinks tea", label }, others);
    for (let index = 0; index < 5; index += 1) await notes.put("kim", { text: `tea at ${index}`, label }, 9);
    return () => {
      for (let index = 0; index < 40; index += 1) void notes.search("kim", "tea", 5); // it works before it returns
    };
  };
  const few = cpuMs(0, await searchAmong(250));
  const bound = 4 * few + 5;
  expect(cpuMs(bound, await searchAmong(4000))).toBeLessThan(bound);
});

it("a note that was forgotten or replaced leaves none of its words in the file", async () => {
  const file = ownFile();
  using notes = sqliteNotes(file);
  const id = await notes.put("kim", { text: "drinks tea", label }, 9);
  await notes.put("kim", { text: "drinks cocoa", label, ...(id === undefined ? {} : { replaces: id }) }, 9);
  const gone = await notes.put("kim", { text: "was ill", label }, 9);
  await notes.remove("kim", gone ?? "");
  using database = new DatabaseSync(file, { readOnly: true });
  const words = database.prepare("SELECT text FROM writ_note_words").all();
  expect(words.map(({ text }) => text)).toEqual([expect.stringMatching(/^\w{16}drink \w{16}cocoa$/u)]);
});
