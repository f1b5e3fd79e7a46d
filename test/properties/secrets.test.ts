import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { nodePowers } from "../../src/adapters/capability/node-powers.ts";
import { scrub, scrubBytes } from "../../src/adapters/capability/secrets.ts";
import { secret } from "../../src/index.ts";
import { openHandles } from "../unit/adapters/capability/open-handles.ts";

const names: string[] = [];
afterAll(() => {
  for (const name of names) delete process.env[name];
});

/** Uses a value as a secret, and gives the mark that takes its place. */
function used(value: string): string {
  const name = `WRIT_SPELLED_${names.length}`;
  names.push(name);
  process.env[name] = value;
  const { secret: take, close } = openHandles([secret(name)]);
  take(name);
  close();
  return `[secret ${name}]`;
}

/** A value as keys are: letters, and signs that some writer escapes. What is at its ends are letters: blanks there are no part of it. */
const sign = fc.constantFrom(...Array.from("/+=&<>'\"%#?:;@!$*()~^|[]{}\\ -_.,äéøß€漢😀\u0301"), "\t", "\n");
const letter = fc.constantFrom(...Array.from("abcXYZ0189"));
const value = fc
  .tuple(
    letter,
    fc.array(fc.oneof({ weight: 3, arbitrary: letter }, sign), { minLength: 6, maxLength: 30 }),
    letter,
  )
  .map(([first, middle, last]) => first + middle.join("") + last);

/** Each value with its mark. What was used stays hidden, so that there are few. */
const keys = [...new Set(fc.sample(value, { numRuns: 30, seed: 10 }))].map((key) => ({
  key,
  mark: used(key),
}));
const known = fc.constantFrom(...keys);

type Spell = (text: string) => string;
const each =
  (of: (sign: string) => string): Spell =>
  (text) =>
    Array.from(text, of).join("");
const unit = (code: number): string => code.toString(16).padStart(4, "0");
const escaped = (text: string): string => text.replaceAll(/[^]/g, (each) => `\\u${unit(each.charCodeAt(0))}`);
const isPlain = (text: string): boolean => /^[a-zA-Z0-9]$/.test(text);
const inQuotes = (text: string): string => JSON.stringify(text).slice(1, -1);
const beyond = (text: string): boolean => (text.codePointAt(0) ?? 0) > 126;

/** How writers of other languages, addresses, pages and mails write a text. */
const writers: Readonly<Record<string, Spell>> = {
  "as it is": (text) => text,
  JavaScript: inQuotes,
  PHP: (text) =>
    inQuotes(text)
      .replaceAll("/", "\\/")
      .replaceAll(/[^ -~]/g, (found) => escaped(found)),
  Python: (text) => inQuotes(text).replaceAll(/[^ -~]/g, (found) => escaped(found)),
  Go: (text) => inQuotes(text).replaceAll(/[<>&]/g, escaped),
  ".NET": (text) =>
    inQuotes(text).replaceAll(/[<>&'+]|[^ -~]/g, (found) =>
      escaped(found).toUpperCase().replaceAll("\\U", "\\u"),
    ),
  "JSON in JSON": (text) => inQuotes(inQuotes(text)),
  "an address": encodeURIComponent,
  "an address that leaves signs": encodeURI,
  "an address that is encoded twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "a form": (text) => new URLSearchParams({ k: text }).toString().slice(2),
  "a page": each((one) => (isPlain(one) ? one : `&#${one.codePointAt(0)};`)),
  "a page in hexadecimal": each((one) => (beyond(one) ? `&#x${one.codePointAt(0)?.toString(16)};` : one)),
  base64: (text) => Buffer.from(text).toString("base64"),
  "base64 of addresses": (text) => Buffer.from(text).toString("base64url"),
  "a mail": (text) =>
    Buffer.from(`Authorization: ${text}, and more of it`)
      .toString("base64")
      .replaceAll(/.{76}|.{40}/g, "$&\r\n"),
  "composed otherwise": (text) => text.normalize("NFD"),
  "composed again": (text) => text.normalize("NFC"),
  "upper case": (text) => text.replaceAll(/[a-z]/g, (found) => found.toUpperCase()),
};

/** Undoes what writers do, so that a value is found whoever wrote it: the words that stay must not hold it. */
function isIn(text: string, key: string): boolean {
  const plain = text.normalize("NFC").toLowerCase();
  return plain.includes(key.normalize("NFC").toLowerCase());
}

describe("the value of a secret", () => {
  it.each(Object.entries(writers))("is found however it is written: %s", (_who, write) => {
    fc.assert(
      fc.property(known, fc.string(), fc.string(), ({ key, mark }, before, after) => {
        const clean = scrub(`${before} ${write(key)} ${after}`);
        expect(clean, key).toContain(mark);
        expect(isIn(clean, write(key))).toBe(false);
        expect(clean.length).toBeLessThan(before.length + after.length + mark.length + 100);
      }),
      { numRuns: 100, seed: 11 },
    );
  });

  it("is found where each of its signs is written by another one of them", () => {
    const ways = fc.array(fc.constantFrom("as it is", "JavaScript", "PHP", ".NET", "an address", "a page"), {
      minLength: 40,
      maxLength: 40,
    });
    fc.assert(
      fc.property(known, ways, ({ key, mark }, chosen) => {
        const written = Array.from(key.match(/\\*[^\\]|\\+/gu) ?? [], (one, at) =>
          isPlain(one) ? one : (writers[chosen[at % chosen.length] ?? "PHP"]?.(one) ?? one),
        ).join("");
        expect(scrub(`{"k":"${written}"}`), written).toBe(`{"k":"${mark}"}`);
      }),
      { numRuns: 150, seed: 12 },
    );
  });

  it.each([" ", "\t", "\n", " \r\n"])("is found without the blanks %j around it in its variable", (blank) => {
    const key = `blank-${names.length}-blank`;
    const mark = used(`${blank}${key}${blank}`);
    expect(scrub(`Bearer ${key};`)).toBe(`Bearer ${mark};`);
  });

  it("is found in bytes, whatever stands beside it", () => {
    fc.assert(
      fc.property(known, fc.uint8Array(), ({ key, mark }, noise) => {
        const bytes = Buffer.concat([noise, Buffer.from(` ${key} `), noise]);
        expect(Buffer.from(scrubBytes(bytes)).includes(Buffer.from(mark)), key).toBe(true);
      }),
      { numRuns: 60, seed: 13 },
    );
  });

  it("is the one thing that is taken out", () => {
    const text = "nothing of a key: äöü / + = %20 &amp; \\u0041 aGVsbG8= [] {}";
    expect(scrub(text)).toBe(text);
    expect(nodePowers.holdsSecrets).toBe(true);
  });
});
