import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { trustedLabel, untrustedFrom } from "../../src/message/label.ts";
import { inMemoryNotes, type NoteStore } from "../../src/session.ts";
import { sqliteNotes } from "../../src/sqlite.ts";
import { hostileNames } from "./memory-store.ts";

const note = (text: string, replaces?: string): Parameters<NoteStore["put"]>[1] => ({
  text,
  label: trustedLabel,
  ...(replaces === undefined ? {} : { replaces }),
});

describe.each([
  ["in memory", inMemoryNotes],
  ["SQLite", () => sqliteNotes(":memory:")],
])("note store contract: %s", (_name, open: () => NoteStore) => {
  const texts = async (store: NoteStore, namespace: string, query = ""): Promise<string[]> =>
    (await store.search(namespace, query, 10)).map(({ text }) => text);

  it("finds notes by their words: any case, accents, endings, beginnings; the best first [P-memory-tools]", async () => {
    const store = open();
    for (const text of ["Kim drinks tea at four", "The café in Paris has tea", "Alex searches for keys"])
      await store.put("a", note(text), 10);
    expect(await texts(store, "a", "KIM TEA")).toEqual(
      ["Kim drinks tea at four", "The café in Paris has tea"].slice(0, 2),
    );
    expect((await texts(store, "a", "cafe"))[0]).toBe("The café in Paris has tea");
    expect(await texts(store, "a", "search")).toEqual(["Alex searches for keys"]);
    expect(await texts(store, "a", "key")).toEqual(["Alex searches for keys"]);
    expect(await texts(store, "a", "teas")).toHaveLength(2);
    expect(await texts(store, "a", "par")).toEqual(["The café in Paris has tea"]);
    expect(await texts(store, "a", "coffee")).toEqual([]);
    expect(await store.search("a", "tea", 1)).toHaveLength(1);
  });

  it("gives the latest first for a query without words, also after one was replaced", async () => {
    const store = open();
    const first = await store.put("a", note("one"), 10);
    await store.put("a", note("two"), 10);
    expect(await texts(store, "a")).toEqual(["two", "one"]);
    expect(await store.put("a", note("one again", first), 10)).toBe(first);
    expect(await texts(store, "a", " ?! ")).toEqual(["one again", "two"]);
    expect(await texts(store, "a", "one")).toEqual(["one again"]);
  });

  it("keeps no more than it is told, replaces in a full namespace, and replaces nothing that is not there", async () => {
    const store = open();
    const id = await store.put("a", note("one"), 1);
    expect(await store.put("a", note("two"), 1)).toBeUndefined();
    expect(await store.put("b", note("two"), 1)).toBeDefined();
    expect(await store.put("a", note("three", id), 1)).toBe(id);
    expect(await store.put("a", note("four", "n99"), 9)).toBeUndefined();
    expect(await texts(store, "a")).toEqual(["three"]);
  });

  it("takes out a note once, and never gives its id again", async () => {
    const store = open();
    const id = (await store.put("a", note("secret word"), 10)) ?? "";
    expect([await store.remove("a", id), await store.remove("a", id)]).toEqual([true, false]);
    expect([await texts(store, "a"), await texts(store, "a", "secret")]).toEqual([[], []]);
    expect(await store.put("a", note("next"), 10)).not.toBe(id);
  });

  it("keeps namespaces apart, whatever they are called: nothing is read, replaced or taken out from another [P-memory-tools]", async () => {
    const store = open();
    const ids = new Map<string, string>();
    for (const [index, name] of hostileNames.entries())
      ids.set(name, (await store.put(name, note(`shared number${index}`), 10)) ?? "");
    for (const [index, name] of hostileNames.entries()) {
      expect(await texts(store, name)).toEqual([`shared number${index}`]);
      expect(await texts(store, name, "shared")).toEqual([`shared number${index}`]);
      expect(await store.remove("elsewhere", ids.get(name) ?? "")).toBe(false);
      expect(await store.put("elsewhere", note("mine", ids.get(name)), 10)).toBeUndefined();
    }
    expect(await texts(store, "elsewhere")).toEqual([]);
  });

  it("gives back texts, labels exactly, and takes nothing of a query for syntax", async () => {
    const store = open();
    const label = untrustedFrom("tool/mail");
    await store.put("a", { text: 'a\u0000b \ud800 "x" OR', label }, 10);
    expect(await store.search("a", "", 9)).toEqual([
      { id: expect.any(String), text: 'a\u0000b \ud800 "x" OR', label },
    ]);
    const query = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom('"', "a OR b", "NEAR(a b)", "text:*", "-a", "a*", "AND"),
    );
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        expect((await store.search("a", asked, 5)).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });
});
