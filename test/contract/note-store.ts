import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { trustedLabel, untrustedFrom } from "../../src/message/label.ts";
import { inMemoryNotes, type NoteStore } from "../../src/session.ts";
import { hostileNames } from "./memory-store.ts";

const note = (text: string, replaces?: string): Parameters<NoteStore["put"]>[1] => ({
  text,
  label: trustedLabel,
  ...(replaces === undefined ? {} : { replaces }),
});

/** Registers the tests of the port in src/session/note-store.ts. `open` gives a store that is empty. */
export function noteStoreContract(name: string, open: () => NoteStore): void {
  describe(`note store contract: ${name}`, () => {
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

    it("keeps no more than it is told of many that come at once, and has room again for each that is taken out", async () => {
      const store = open();
      const put = (text: string): Promise<string | undefined> => store.put("a", note(text), 5);
      const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => put(`number${index}`)));
      const kept = ids.filter((id) => id !== undefined);
      expect(kept).toHaveLength(5);
      expect(await texts(store, "a")).toHaveLength(5);
      await Promise.all(kept.map((id) => store.remove("a", id)));
      expect(await texts(store, "a")).toEqual([]);
      for (let index = 0; index < 5; index += 1) expect(await put(`again${index}`)).toBeDefined();
      expect(await put("too many")).toBeUndefined();
    });

    it("finds signs of languages without spaces, and words and notes as long as a note may be", async () => {
      const store = open();
      await store.put("a", note("明日は東京で会議があります"), 10);
      await store.put("a", note("ж".repeat(2000)), 10);
      await store.put("a", note(Array.from({ length: 400 }, (_, index) => `w${index}`).join(" ")), 10);
      expect(await texts(store, "a", "東京")).toEqual(["明日は東京で会議があります"]);
      expect(await texts(store, "a", "京都")).toEqual([]);
      expect(await texts(store, "a", "ж".repeat(2000))).toEqual(["ж".repeat(2000)]);
      expect(await texts(store, "a", "w399")).toHaveLength(1);
    });

    it("finds the notes that a store in memory finds, in the same order", async () => {
      const store = open();
      const signs = "tea|teas|running|Café|paris|par|the|a1|東京|京|x|Zürich-2|ﬁne|٣".split("|");
      const words = fc.array(fc.constantFrom(...signs), { maxLength: 6 }).map((all) => all.join(" "));
      let namespace = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(words, { maxLength: 8 }),
          fc.array(words, { maxLength: 4 }),
          async (notes, queries) => {
            const here = inMemoryNotes();
            const name = `n${(namespace += 1)}`;
            for (const text of notes) for (const each of [here, store]) await each.put(name, note(text), 100);
            for (const query of queries) {
              const [one, other] = await Promise.all(
                [here, store].map((each) => each.search(name, query, 5)),
              );
              expect(other?.map(({ text }) => text)).toEqual(one?.map(({ text }) => text));
            }
          },
        ),
        { numRuns: 60 },
      );
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
}
