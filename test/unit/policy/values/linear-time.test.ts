import { describe, expect, it } from "vitest";
import { valuesIn } from "../../../../src/policy/values/bound-values.ts";
import { canonical } from "../../../../src/policy/values/canonical.ts";
import { linksIn } from "../../../../src/policy/values/links.ts";

const types = [
  "email",
  "url",
  "host",
  "path",
  "iban",
  "phone",
  "date",
  "identifier",
  "number",
  "text",
] as const;

/** What is repeated until a text is long: each once took, or would take, some careless reader quadratic time. */
const repeated: readonly string[] = [
  "a",
  ".",
  "a.",
  "/",
  "-",
  "@",
  "a@",
  "1",
  "1 ",
  "1,",
  "+1 ",
  "0 ",
  "(",
  "' 'a ",
  '"a ',
  "a'",
  "'s",
  "a-",
  "“",
  "http:",
  "http:a;+",
  "https://",
  "://",
  "//a,",
  "\\\\a,",
  "x.com ",
  "www.x.com,",
  "http://x.co/a ",
  "data:,",
  "[.]",
  "&#",
  "&#58;",
  "&#0",
  "\\.",
  "]: //a ",
  "href = ",
  "https:a.b,",
  'href="',
  "href ",
  "ab=",
  "ab:",
  "GB29 ",
  "May 5 ",
  "May ",
  "files 1, 2 and ",
  "a/../",
  "😀",
  "\ud800",
  "\u200b",
  "\u0301\u0316",
  "\u0301\uff9e",
  "か",
  "ς",
  "\ufdfa",
];

const small = 8192;
const factor = 16;

function textOf(part: string, length: number): string {
  return `x${part.repeat(Math.ceil(length / part.length))} end`;
}

function work(text: string): void {
  const known = valuesIn([text]);
  known.has("ann@example.com");
  known.has("zzz zzz");
  known.has("x", "text");
  known.has("a", "text");
  known.has(text);
  known.has(`${text}x`, "text");
  known.has(text.slice(text.length / 2), "text");
  linksIn(text);
  for (const type of types) canonical(type, text);
}

function elapsedMs(text: string): number {
  const start = performance.now();
  work(text);
  return performance.now() - start;
}

function fastestMs(text: string): number {
  return Math.min(elapsedMs(text), elapsedMs(text), elapsedMs(text));
}

describe("time", () => {
  // Sixteen times the text takes 16 times the time, and 256 times where time is quadratic. Under 5 ms nothing can be told apart.
  it.each(repeated.map((part) => ({ part })))("is linear in a text of $part", ({ part }) => {
    const limitMs = Math.max(fastestMs(textOf(part, small)), 5) * factor * 5;
    const long = textOf(part, small * factor);
    const isFast = elapsedMs(long) < limitMs || elapsedMs(long) < limitMs;
    expect(isFast).toBe(true);
  });

  it("is linear where a long value almost stands in a text, again and again", () => {
    const ratio = (length: number): number => {
      const known = valuesIn(["a".repeat(length)]);
      const start = performance.now();
      expect(known.has(`b${"a".repeat(length / 2)}`, "text")).toBe(false);
      expect(known.has(`${"a".repeat(length / 2)}b`, "text")).toBe(false);
      expect(known.has("a".repeat(length / 2), "text")).toBe(false);
      return performance.now() - start;
    };
    ratio(small);
    expect(ratio(small * factor) / Math.max(ratio(small), 5)).toBeLessThan(factor * 5);
  });

  it("lets a megabyte of text through, and binds what stands in it", () => {
    const text = `${"lorem ipsum ".repeat(50_000)} mail ann@example.com ${"dolor, sit. ".repeat(40_000)}`;
    expect(text.length).toBeGreaterThan(1_000_000);
    const known = valuesIn([text]);
    expect(known.has("ann@example.com")).toBe(true);
    expect(known.has("bob@example.com")).toBe(false);
    expect(known.has(text, "text")).toBe(true);
    expect(linksIn(`${text} https://example.com/x`)).toEqual(["https://example.com/x"]);
  });
});
