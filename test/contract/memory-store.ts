import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryStore } from "../../src/session/memory-store.ts";

/** Names that break careless stores: paths, SQL, members of objects, text that is no valid Unicode. */
export const hostileNames: readonly string[] = [
  "",
  "../x",
  "/etc/passwd",
  "'; DROP TABLE writ_memory; --",
  "%",
  "_",
  "__proto__",
  "constructor",
  "toString",
  "a\u0000b",
  "a",
  "A",
  "é",
  "e\u0301",
  "\ud800",
  "\ufffd",
  "日本語 🙂",
  "x".repeat(10_000),
];

/** Registers the tests of the port in src/session/memory-store.ts. `open` gives a store that is empty. */
export function memoryStoreContract(name: string, open: () => MemoryStore): void {
  describe(`memory store contract: ${name}`, () => {
    it("gives an empty text for a slot that nobody wrote, and does not make it", async () => {
      const store = open();
      expect(await store.read("nobody")).toBe("");
      expect(await store.slots()).toEqual([]);
    });

    it("puts a text in the place of what was there, an empty one too", async () => {
      const store = open();
      await store.write("a", "one\ntwo\n");
      await store.write("a", "three");
      expect(await store.read("a")).toBe("three");
      await store.write("a", "");
      expect(await store.read("a")).toBe("");
    });

    it("tells the slots in the order of their first writing", async () => {
      const store = open();
      for (const slot of ["b", "c", "a", "b"]) await store.write(slot, slot);
      expect(await store.slots()).toEqual(["b", "c", "a"]);
    });

    it("keeps slots apart, whatever they are called", async () => {
      const store = open();
      for (const [index, slot] of hostileNames.entries()) await store.write(slot, `text ${index}`);
      for (const [index, slot] of hostileNames.entries())
        expect(await store.read(slot)).toBe(`text ${index}`);
      expect(await store.slots()).toEqual(hostileNames);
      expect(await store.read("hasOwnProperty")).toBe("");
    });

    it("gives back exactly what was written, in any order of reading and writing", async () => {
      const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...hostileNames));
      const command = fc.record({ slot: text, text: fc.option(text, { nil: undefined }) });
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 20 }), async (commands) => {
          const store = open();
          const model = new Map<string, string>();
          for (const { slot, text } of commands) {
            if (text !== undefined) {
              await store.write(slot, text);
              model.set(slot, text);
            }
            expect(await store.read(slot)).toBe(model.get(slot) ?? "");
          }
          expect(await store.slots()).toEqual([...model.keys()]);
        }),
        { numRuns: 40 },
      );
    });

    it("writes whole texts: of two at once one is there", async () => {
      const store = open();
      const texts = ["a".repeat(50_000), "b".repeat(50_000)];
      await Promise.all(texts.map((text) => store.write("slot", text)));
      expect(texts).toContain(await store.read("slot"));
    });
  });
}
