import { describe, expect, it } from "vitest";
import { valuesIn } from "../../../../src/policy/values/bound-values.ts";
import { canonical } from "../../../../src/policy/values/canonical.ts";
import { linksIn } from "../../../../src/policy/values/links.ts";
import { growth } from "../../../cpu-time.ts";

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
  "A'B",
  "O’O",
  "A-",
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

describe("time", () => {
  it.each(repeated.map((part) => ({ part })))("is linear in a text of $part", ({ part }) => {
    expect(growth(small, (length) => work(textOf(part, length)))).toBeLessThan(5);
  });

  it("is linear where a long value almost stands in a text, again and again", () => {
    const almost = (length: number): void => {
      const known = valuesIn(["a".repeat(length)]);
      expect(known.has(`b${"a".repeat(length / 2)}`, "text")).toBe(false);
      expect(known.has(`${"a".repeat(length / 2)}b`, "text")).toBe(false);
      expect(known.has("a".repeat(length / 2), "text")).toBe(false);
    };
    expect(growth(small, almost)).toBeLessThan(5);
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
