import { describe, expect, it } from "vitest";
import { hasWords } from "../../../../src/policy/values/find-words.ts";
import type { FoldedText } from "../../../../src/policy/values/phrases.ts";
import { randomFrom } from "../../../random.ts";

/** Texts of one-letter words; `length` of them. */
const sentence = (length: number, letter: (index: number) => string): string =>
  Array.from({ length }, (_, index) => letter(index)).join(" ");

const plain = (text: string): FoldedText => ({ text, phrases: [] });

describe("the search for long words in a text", () => {
  it("finds what repeats itself behind each of its own beginnings", () => {
    for (const period of [1, 2, 3, 5, 8])
      for (const mark of [0, 17, 40]) {
        const words = sentence(41, (index) => (index % period === period - 1 || index === mark ? "b" : "a"));
        expect(words.length).toBeGreaterThan(64);
        for (let begun = 0; begun < 41; begun += 1)
          expect(
            hasWords(plain(`${words.slice(0, 2 * begun)}${words}`), words),
            `${period} ${mark} ${begun}`,
          ).toBe(true);
        expect(hasWords(plain(`${words.slice(0, -1)}c`), words)).toBe(false);
      }
  });

  it("finds what begins within a place that was no whole word", () => {
    const words = sentence(33, () => "a");
    expect(hasWords(plain(`x${sentence(34, () => "a")}`), words)).toBe(true);
    expect(hasWords(plain(`x${words}`), words)).toBe(false);
  });

  it("finds in random texts of two words what a plain search finds", () => {
    const random = randomFrom(7);
    const letter = (): string => (random() < 0.8 ? "a" : "b");
    let found = 0;
    for (let run = 0; run < 400; run += 1) {
      const words = sentence(33, letter);
      const parts = Array.from({ length: 6 }, () => words.slice(0, 2 * Math.floor(random() * 34)).trim());
      const text = [...parts, sentence(5, letter)].filter((part) => part !== "").join(" ");
      const expected = ` ${text} `.includes(` ${words} `);
      expect(hasWords(plain(text), words), `${text} | ${words}`).toBe(expected);
      if (expected) found += 1;
    }
    expect(found).toBeGreaterThan(20);
  });

  it("takes a letter of two code units for the letter that it is", () => {
    expect(hasWords(plain("\u{10400}ann"), "ann")).toBe(false); // the first low surrogate there is
    expect(hasWords(plain("\u{10ffff} ann"), "ann")).toBe(true);
    expect(hasWords(plain("a\u{20000}nn, \u{20000}nn"), "nn")).toBe(false);
    expect(hasWords(plain("😀ann"), "ann")).toBe(true);
    expect(hasWords(plain("ann\u{10400}"), "ann")).toBe(false);
  });

  it("is held to whole words, also of long ones", () => {
    const long = "a".repeat(70);
    expect(hasWords(plain(`x${long}`), long)).toBe(false);
    expect(hasWords(plain(`${long}-${long}`), long)).toBe(false);
    expect(hasWords(plain(`${long}a, ${long}.`), long)).toBe(true);
  });
});
