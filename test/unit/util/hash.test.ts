import { expect, it } from "vitest";
import { fingerprint } from "../../../src/util/hash.ts";

it("the fingerprint of a text is that of cyrb53, on every machine and in every version", () => {
  const numbers = ["a", "b"].map((text) => Number.parseInt(fingerprint(text), 36));
  expect(numbers).toEqual([7_929_297_801_672_961, 8_684_336_938_537_663]);
  const kept = ["", "The quick brown fox", "é😀"].map(fingerprint);
  expect(kept).toEqual(["wvjl67o803", "wu2ty3icyy", "3yjaate3wu"]);
  expect(fingerprint("The quick brown fox 🙂 ".repeat(10_000))).toBe("1hu4jomciex");
});
