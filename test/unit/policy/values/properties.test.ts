import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { valuesIn } from "../../../../src/policy/values/bound-values.ts";
import { canonical } from "../../../../src/policy/values/canonical.ts";
import { linksIn } from "../../../../src/policy/values/links.ts";
import type { ValueType } from "../../../../src/tool/parameters.ts";
import type { Json } from "../../../../src/util/json.ts";

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
] as const satisfies readonly ValueType[];

const lower = "abcdefghijklmnopqrstuvwxyz".split("");
const upper = lower.map((letter) => letter.toUpperCase());
const digit = "0123456789".split("");

function word(units: readonly string[], minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...units), minLength, maxLength });
}

const label = word([...lower, ...digit], 1, 8);
const host = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 3 }), fc.constantFrom("com", "org", "example", "de"))
  .map(([labels, ending]) => [...labels, ending].join("."));
const name = word([...lower, ...digit, "-", "_"], 1, 8).filter((part) =>
  /^[a-z0-9].*[a-z0-9]$|^[a-z0-9]$/u.test(part),
);
const pad = (value: number, length = 2): string => String(value).padStart(length, "0");
const day = fc.tuple(
  fc.integer({ min: 1900, max: 2199 }),
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 1, max: 28 }),
);
const clock = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
const monthNames = [
  "January",
  "Feb",
  "March",
  "April",
  "May",
  "june",
  "July",
  "Aug",
  "Sept",
  "October",
  "Nov",
  "December",
];

/** Values as people write them, by their types. */
const written: Readonly<Record<ValueType, fc.Arbitrary<string>>> = {
  email: fc.tuple(name, host).map(([local, domain]) => `${local}@${domain}`),
  url: fc
    .tuple(
      fc.constantFrom("http", "https", "ftp"),
      host,
      fc.array(name, { maxLength: 3 }),
      fc.option(name, { nil: "" }),
    )
    .map(
      ([scheme, domain, parts, query]) =>
        `${scheme}://${domain}/${parts.join("/")}${query === "" ? "" : `?q=${query}`}`,
    ),
  host,
  path: fc
    .tuple(
      fc.constantFrom("", "/", "./", "../"),
      fc.array(name, { maxLength: 3 }),
      name,
      fc.constantFrom("txt", "md", "tar.gz"),
    )
    .map(([root, folders, file, ending]) => `${root}${[...folders, file].join("/")}.${ending}`),
  iban: fc
    .tuple(word(upper, 2, 2), word(digit, 2, 2), word([...upper, ...digit], 11, 30))
    .map((parts) => parts.join("")),
  phone: fc.tuple(fc.constantFrom("+", "00"), word(digit.slice(1), 8, 14)).map((parts) => parts.join("")),
  date: fc.oneof(
    day.map(([year, month, date]) => `${pad(year, 4)}-${pad(month)}-${pad(date)}`),
    fc
      .tuple(day, clock)
      .map(
        ([[year, month, date], [hour, minute]]) =>
          `${year}-${pad(month)}-${pad(date)}T${pad(hour)}:${pad(minute)}`,
      ),
    day.map(([, month, date]) => `${monthNames[month - 1]} ${date}`),
    day.map(([year, month, date]) => `${date}. ${monthNames[month - 1]} ${year}`.replace(".", "th of")),
    day.map(([year, month]) => `${monthNames[month - 1]} ${year}`),
    clock.map(([hour, minute]) => `${hour}:${pad(minute)}`),
  ),
  identifier: fc
    .tuple(word(upper, 1, 4), word(digit, 1, 6), word([...lower, ...digit], 1, 4))
    .map(([first, second, third]) => `${first}-${second}-${third}`),
  number: fc.oneof(
    fc.integer({ min: 0, max: 999_999 }).map(String),
    fc
      .tuple(fc.integer({ min: 0, max: 99_999 }), word(digit, 1, 4))
      .map(([whole, part]) => `${whole}.${part}`),
    fc
      .tuple(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 0, max: 999 }))
      .map(([thousands, rest]) => `$${thousands},${pad(rest, 3)}`),
  ),
  text: fc
    .array(word([...lower, ...upper], 1, 8), { minLength: 1, maxLength: 5 })
    .map((words) => words.join(" ")),
};

const around = fc.constantFrom(
  "tell",
  "please",
  "about",
  "with",
  "und",
  "naïve",
  "«",
  "(",
  "…",
  "—",
  "",
  "to:",
  "!",
);
const values = fc.constantFrom(...types).chain((type) => written[type].map((value) => ({ type, value })));

/** Texts that programs trip over. */
const hostileUnit = fc.constantFrom(
  ..."\u0000\t\n\r \"'`()[]<>{}#@.,:;/\\-+_=%&$*?!~|^019azAZ".split(""),
  "\u200b",
  "\u202e",
  "\ufeff",
  "\ud800",
  "\udc00",
  "\u{e0041}",
  "\u0301",
  "\uff9e",
  "＠",
  "．",
  "ﬁ",
  "İ",
  "ß",
  "😀",
  "а",
  "http",
  "://",
  "www.",
  ".com",
  "data:",
  "May ",
  "2024-",
  "GB29",
  "__proto__",
  "&#58;",
  "[.]",
  "href=",
);
const hostile = fc.oneof(
  fc.string({ unit: hostileUnit, maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 20 }),
);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(hostile, fc.double(), fc.boolean(), fc.constant(null), fc.bigInt().map(Number)),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(hostile, tie("json"), { maxKeys: 3 }),
  ),
}));

const runs = { numRuns: 2000 };

describe("canonical spellings", () => {
  it("are their own canonical spelling", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        fc.oneof(
          hostile,
          values.map(({ value }) => value),
        ),
        (type, value) => {
          const once = canonical(type, value);
          if (once !== undefined) expect(canonical(type, once)).toBe(once);
        },
      ),
      { numRuns: 10_000 },
    );
  });

  it("exist for every value that people write", () => {
    fc.assert(
      fc.property(values, ({ type, value }) => {
        expect(canonical(type, value)).toBeTypeOf("string");
      }),
      runs,
    );
  });

  it("never have a character that nobody sees", () => {
    const hidden = fc.constantFrom(
      "\u200b",
      "\u200d",
      "\u202e",
      "\u2066",
      "\ufeff",
      "\u00ad",
      "\u{e0061}",
      "\ufe0f",
      "\u0000",
      "\u2060",
    );
    fc.assert(
      fc.property(values, hidden, fc.nat(60), ({ type, value }, mark, place) => {
        const at = place % (value.length + 1);
        const marked = value.slice(0, at) + mark + value.slice(at);
        expect(canonical(type, marked)).toBeUndefined();
        const known = valuesIn([`please ${value} now`]);
        expect(known.has(marked)).toBe(false);
        expect(known.has(marked, type)).toBe(false);
      }),
      runs,
    );
  });
});

describe("bound values", () => {
  it("have every value that stands alone in a text", () => {
    fc.assert(
      fc.property(values, around, around, ({ type, value }, before, after) => {
        expect(valuesIn([`${before} ${value} ${after}`]).has(value, type)).toBe(true);
        expect(valuesIn(["no", value]).has(value, type)).toBe(true);
      }),
      runs,
    );
  });

  it("have it by its own form as well, unless whole digits need a sign that they name something", () => {
    fc.assert(
      fc.property(
        values.filter(({ value }) => !/^\d+$/u.test(value)),
        ({ value }) => {
          expect(valuesIn([`please ${value} now`]).has(value)).toBe(true);
        },
      ),
      runs,
    );
    fc.assert(
      fc.property(fc.nat(), (number) => {
        const known = valuesIn([`please ${number} now`]);
        expect([known.has(String(number)), known.has(number)]).toEqual([false, false]);
        expect(valuesIn([`file ${number} now`]).has(String(number))).toBe(true);
        expect(valuesIn([`the '${number}' now`]).has(number)).toBe(true);
      }),
    );
  });

  it("lose it when a letter or a digit is put before or behind it in the text", () => {
    const more = fc.constantFrom("x", "Q", "7", "é", "а", "１");
    fc.assert(
      fc.property(values, more, fc.boolean(), ({ type, value }, extra, isBefore) => {
        const longer = isBefore ? extra + value : value + extra;
        const known = valuesIn([`please ${longer} now`]);
        // A day of one digit, an hour of one digit, and a link's scheme and ending may become another value, never this one.
        expect([value, known.has(value, type)]).toEqual([value, false]);
        expect([value, known.has(value)]).toEqual([value, false]);
      }),
      runs,
    );
  });

  it("lose it when a letter or a digit is put before or behind the value", () => {
    const more = fc.constantFrom("x", "Q", "7", "é", "а");
    fc.assert(
      fc.property(values, more, fc.boolean(), ({ type, value }, extra, isBefore) => {
        const longer = isBefore ? extra + value : value + extra;
        const known = valuesIn([`please ${value} now`]);
        expect([longer, known.has(longer, type)]).toEqual([longer, false]);
        expect([longer, known.has(longer)]).toEqual([longer, false]);
      }),
      runs,
    );
  });

  it("never have a value of another text", () => {
    fc.assert(
      fc.property(values, values, (one, other) => {
        fc.pre(!one.value.toLowerCase().includes(other.value.toLowerCase()));
        fc.pre(canonical(other.type, one.value) !== canonical(other.type, other.value));
        const isDate = one.type === "date" || other.type === "date";
        const isHostOfLink = one.type === "url" && other.type === "host";
        fc.pre(!isDate && !isHostOfLink && one.type !== "number");
        expect([one, other, valuesIn([`please ${one.value} now`]).has(other.value, other.type)]).toEqual([
          one,
          other,
          false,
        ]);
      }),
      runs,
    );
  });

  it("never throw, whatever the texts and the value", () => {
    fc.assert(
      fc.property(
        fc.array(hostile, { maxLength: 3 }),
        json,
        fc.option(fc.constantFrom(...types), { nil: undefined }),
        (texts, value, type) => {
          expect(valuesIn(texts).has(value, type)).toBeTypeOf("boolean");
          for (const each of types) canonical(each, value);
        },
      ),
      { numRuns: 5000 },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("are never more than the texts: a value that no text has a letter or digit of is not bound", () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 3 }), (texts) => {
        for (const value of ["QZX-77345", "qzx@qzx.org", "https://qzx.org/", 77_345, "Qzx qzx"])
          expect(valuesIn(texts).has(value)).toBe(false);
      }),
      runs,
    );
  });
});

describe("links", () => {
  it("are found wherever people write them, and never throw", () => {
    fc.assert(
      fc.property(written.url, around, around, (url, before, after) => {
        expect(linksIn(`${before} ${url} ${after}`)).toContain(canonical("url", url));
        expect(linksIn(`${before}(${url})${after}`)).toContain(canonical("url", url));
        expect(linksIn(`![${before}](${url})`)).toContain(canonical("url", url));
      }),
      runs,
    );
    fc.assert(
      fc.property(hostile, (text) => {
        for (const link of linksIn(text)) expect(link).toBeTypeOf("string");
      }),
      { numRuns: 5000 },
    );
  });

  it("are never made of an e-mail address", () => {
    fc.assert(
      fc.property(written.email, around, (email, before) => {
        expect(linksIn(`${before} ${email} now`)).toEqual([]);
        expect(linksIn(`<${email}>, see ${email}.`)).toEqual([]);
      }),
      runs,
    );
  });
});
