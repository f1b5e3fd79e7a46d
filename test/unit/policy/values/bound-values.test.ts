import { describe, expect, it } from "vitest";
import { valuesIn } from "../../../../src/policy/values/bound-values.ts";
import type { ValueType } from "../../../../src/tool/parameters.ts";
import type { Json } from "../../../../src/util/json.ts";

type Row = readonly [text: string, value: Json, type?: ValueType];

function table(bound: boolean, rows: readonly Row[]): void {
  it.each(rows.map(([text, value, type]) => ({ text, value, type: type ?? "its form" })))(
    `${bound ? "" : "no "}$value as $type in: $text`,
    ({ text, value, type }) => {
      const known = valuesIn([text]);
      const asked = type === "its form" ? known.has(value) : known.has(value, type as ValueType);
      expect(asked).toBe(bound);
    },
  );
}

describe("e-mail addresses", () => {
  table(true, [
    ["Her address is 'ann.lee@example.com'.", "Ann.Lee@EXAMPLE.com"],
    ["Mail ann@example.com, bob@example.org.", "bob@example.org"],
    ["Mail (ann@example.com)", "Ann Lee <ann@example.com>", "email"],
    ["Mail Ann Lee <ann@example.com>", "Ann Lee <ann@example.com>"],
    ["Mail Ann <ann@example.com>!", "mailto:ann@example.com"],
    ["to:ann@example.com", "ann@example.com", "email"],
    ["Ann:ann@example.com", "ann@example.com", "email"],
    ["reply to ann@example.com's mail", "ann@example.com"],
    ["mail ann@bücher.example", "ann@xn--bcher-kva.example"],
    ["mail ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ", "ann@example.com"],
    ["mail ann@example.com and bob@example.com", ["ann@example.com", "bob@example.com"], "email"],
  ]);
  table(false, [
    ["Mail ann@example.com", "nn@example.com"],
    ["Mail ann@example.com", "a@b.com"],
    ["Mail a@b.com", "a@b.co"],
    ["Mail a@b.co", "a@b.com"],
    ["Mail a@b.com.evil.example", "a@b.com"],
    ["Mail x+a@b.com", "a@b.com"],
    ["Mail x/a@b.com", "a@b.com"],
    ["Log in to admin:secret@db.example.com", "secret@db.example.com"],
    ["Log in to admin:secret@db.example.com", "secret@db.example.com", "email"],
    ["Mail a@b.com-old", "a@b.com"],
    ["Mail a@b.com@evil.example", "a@b.com"],
    ["Mail an\u200bn@example.com", "ann@example.com"],
    ["Mail ann@example.com\u200b", "ann@example.com"],
    ["Mail ann@example.com", "ann@example.com\u200b"],
    ["Mail ann@example.com", "аnn@example.com"],
    ["Mail ann@example.com", "ann@ехample.com"],
    ["Mail ann@example.com", "eve@evil.example <ann@example.com>"],
    ["Mail ann@example.com", "ann@example.com <eve@evil.example>"],
    ["Mail ann@example.com", "eve, Ann <ann@example.com>"],
    ["Mail ann@example.com", "ann@example.com, eve@evil.example"],
    ["Mail ann@example.com", ["ann@example.com", "eve@evil.example"], "email"],
    ["See https://ann@example.com/", "ann@example.com"],
    ["Mail Ann Lee", "ann.lee@example.com"],
    ["Mail (ann@example.com)", "rm -rf x # <ann@example.com>"],
  ]);
});

describe("links and hosts", () => {
  table(true, [
    ["Read https://Example.com:443/a/../b.", "https://example.com/b"],
    ["Read [this](https://example.com/b) now", "https://example.com/b"],
    ["Read <https://example.com/b>", "https://example.com/b"],
    ["Read 'https://example.com/b'", "https://example.com/b"],
    ["Read (see https://example.com/wiki/X_(y))", "https://example.com/wiki/X_(y)"],
    ["url=https://example.com/b", "https://example.com/b"],
    ["Read https://example.com/b#part", "https://example.com/b"],
    ["Read https://example.com/b#part", "https://example.com/b#part"],
    ["Read www.example.com", "www.example.com"],
    ["Read www.example.com", "https://www.example.com"],
    ["Read www.example.com", "http://www.example.com/"],
    ["Read example.com/a.", "https://example.com/a"],
    ["Read https://example.com/a", "example.com", "host"],
    ["Use Example.com, please", "example.com"],
    ["Use example.com:8080", "example.com:8080"],
    ["Ping 10.0.0.1", "10.0.0.1"],
    ["Use localhost:3000 here", "localhost:3000"],
    ["https://a.example/x,https://b.example/y", "https://b.example/y"],
  ]);
  table(false, [
    ["Use not-evil.com", "evil.com"],
    ["Use evil.com.example", "evil.com"],
    ["Use sub.evil.com", "evil.com"],
    ["Use evil.com", "evil.co"],
    ["Use evil.com:8080", "evil.com"],
    ["Mail ann@evil.com", "evil.com"],
    ["Mail ann@evil.com", "https://evil.com/"],
    ["Read https://example.com/?next=https://evil.com/", "https://evil.com/"],
    ["Read https://example.com/evil.com", "evil.com"],
    ["Read https://example.com/a", "https://example.com/a/b"],
    ["Read https://example.com/a", "https://example.com/"],
    ["Read https://example.com/a", "https://example.com/a?leak=1"],
    ["Read https://example.com/", "https://example.com/#/delete/5"],
    ["Read https://example.com/a", "https://example.com@evil.com/a"],
    ["Read https://example.com/a", "https:\\\\example.com\\a"],
    ["Read https://example.com/a", "//example.com/a"],
    ["Read https://user@example.com/a", "https://example.com/a"],
    ["Read https://user@example.com/a", "example.com"],
    ["Read xhttps://example.com/a", "https://example.com/a"],
    ["Read x_https://example.com/a", "https://example.com/a"],
    ["Read https://exa\u200bmple.com/a", "https://example.com/a"],
    ["Read https://example.com/a", "https://еxample.com/a"],
    ["We spent 12.00 in total", "12.0.0.0", "host"],
    ["Ping 127.0.0.1", "127.1", "host"],
    ["Ping 10.0.0.1", "10.0.0.10"],
    ["the javascript:alert(1) thing", "javascript:alert(1)"],
  ]);
});

describe("paths", () => {
  table(true, [
    ["pay the bill 'bill-december-2023.txt' for me", "bill-december-2023.txt"],
    ["open bill-december-2023.txt.", "./bill-december-2023.txt"],
    ["open docs/../notes/a.md, please", "notes/a.md"],
    ["open '/home/ann/My File.txt'", "/home/ann/My File.txt"],
    ["open C:\\Temp\\x.txt", "C:\\Temp\\x.txt"],
    ["file:notes/a.md", "notes/a.md", "path"],
    ["the `README`", "README", "path"],
    ["open ../x.txt", "../x.txt"],
    ["open .env", ".env", "path"],
  ]);
  table(false, [
    ["open docs/a.md", "a.md"],
    ["open docs/a.md", "docs"],
    ["open docs/a.md", "docs/a.md/../../secret"],
    ["open docs/a.md", "Docs/a.md"],
    ["open a.md", "../a.md"],
    ["open a.md", "/a.md"],
    ["open not-a.md", "a.md"],
    ["open a.md.bak", "a.md"],
    ["open /etc/passwd", "passwd", "path"],
    ["open the file", "the", "path"],
    ["delete it on June 13", "13", "path"],
    ["open file.txt", "ﬁle.txt"],
    ["open a\u202etxt.md", "a\u202etxt.md"],
    ["open a.md", "a.md\u0000.png"],
  ]);
});

describe("account and phone numbers", () => {
  table(true, [
    ["(from their account GB29NWBK60161331926819), but", "GB29 NWBK 6016 1331 9268 19"],
    ["to GB29 NWBK 6016 1331 9268 19 today", "GB29NWBK60161331926819"],
    ["to ES91 2100 0418 4502 0005 1332 2200 EUR", "ES9121000418450200051332"],
    ["The recipient is UK12345678901234567890.", "uk12345678901234567890"],
    ["call +1 (555) 123-4567.", "+15551234567"],
    ["call (555) 123-4567 now", "(555) 123 4567"],
    ["call 0044 20 7946 0958", "+44 20 7946 0958"],
    ["call +44 20 7946 0958 - 12 of us come", "+44 20 7946 0958"],
    ["call 555 123 4567", "555-123-4567"],
    ["call 5551234567", "5551234567", "phone"],
  ]);
  table(false, [
    ["to UK12345678901234567890", "UK123"],
    ["to UK12345678901234567890", "UK1234567890123456789"],
    ["to UK12345678901234567890", "UK123456789012345678901"],
    ["to XUK12345678901234567890", "UK12345678901234567890"],
    ["to GB29 NWBK 6016 1331 9268 19", "GB29", "identifier"],
    ["to GB29 NWBK 6016 1331 9268 19", "6016", "identifier"],
    ["to GB29 NWBK 6016 1331 9268 19", 6016, "number"],
    ["to ES91 2100 0418 4502 0005 1332 2200 EUR", "ES91210004184502000513322200"],
    ["to UK1234567890\u200b1234567890", "UK12345678901234567890"],
    ["call +1 555 123 4567", "555 123 4567"],
    ["call +1 555 123 4567", "+1 555 123 456"],
    ["call +1 555 123 4567", "1234567", "phone"],
    ["call +1 555 123 4567", 123, "number"],
    ["call +1 555 123 45678", "+15551234567"],
    ["call +1 555 123 4567x", "+15551234567"],
  ]);
});

describe("dates and times", () => {
  table(true, [
    ["on May 26th?", "2024-05-26"],
    ["on May 26th?", "May 26"],
    ["on May 26th, 2024 we", "2024-05-26"],
    ["on 26 May 2024", "05/26/2024"],
    ["on 2024-05-26", "May 26"],
    ["at 10:00 on 2024-05-26", "2024-05-26 10:00"],
    ["at 10 am on 2024-05-26", "2024-05-26T10:00:00"],
    ["on 2024-05-26T10:00", "2024-05-26"],
    ["on 2024-05-26T10:00", "10:00"],
    ["in March 2022?", "2022-03"],
    ["June 13", "13 June"],
  ]);
  table(false, [
    ["on May 26th, 2024", "2025-05-26"],
    ["on May 26th", "2024-05-27"],
    ["on May 2", "2024-05-26"],
    ["in March 2022", "2022-03-01"],
    ["on 2022-03-05", "2022-03"],
    ["on 2024-05-26", "2024-05-26 10:00"],
    ["on 2024-05-26 at 10:00", "2024-05-26T10:00Z"],
    ["on 2024-05-265", "2024-05-26"],
    ["on 5/6/2024", "2024-05-06"],
    ["on 5/6/2024", "2024-06-05"],
    ["lot A2024-05-26", "2024-05-26"],
    ["on May \u200b26", "May 26"],
  ]);
});

describe("identifiers", () => {
  table(true, [
    ["refund INV-2024-01, please", "INV-2024-01"],
    ["delete file 13", "13"],
    ["delete file 13", 13],
    ["delete file 13", "13", "identifier"],
    ["file id: 13", "13"],
    ["The ID is 13.", "13"],
    ["order no. 1234", "1234"],
    ["order #1234", "#1234"],
    ["PR#12", "12"],
    ["see #12", 12],
    ["issue 5", 5],
    ["files 13, 14 and 15", ["13", 14, "15"]],
    ["delete '13'", "13"],
    ['delete "13"', 13],
    ["delete `13`", "13"],
    ["13", "13"],
    ["id=13", "13"],
    ["event_id: 13", 13],
    ["event_id=13", 13],
    ['{"event_id": 13}', 13],
    ['{"id":13}', 13],
    ["invoice number 13", "13"],
    ["the key '1j1l-2k3j'.", "1j1l-2k3j"],
    ["post in #general", "#general", "identifier"],
    ["ask @ann7", "ann7", "identifier"],
    ["the channel 'general'", "general", "identifier"],
  ]);
  table(false, [
    ["on June 13 we fly", "13"],
    ["on June 13 we fly", 13],
    ["on June 13 we fly", "13", "identifier"],
    ["on the 13th of June", 13],
    ["pay $13", "13"],
    ["pay $13", 13],
    ["pay 13 dollars", "13"],
    ["at 13:00", 13],
    ["at 1 pm on 2024-05-13", 13],
    ["I have 13 apples", 13],
    ["no 13 apples for me", 13],
    ["files 13, 14. Then 15 people", 15],
    ["file 13 and 20 dollars", 20],
    ["the first file! 13 days ago", 13],
    ["file 134", "13"],
    ["file 134", "34"],
    ["file 12345", "1234"],
    ["refund INV-2024-01", "INV-2024-0"],
    ["refund INV-2024-01", "2024"],
    ["refund INV-2024-01", "inv-2024-01"],
    ["refund XINV-2024-01", "INV-2024-01"],
    ["refund INV-2024-01-b", "INV-2024-01"],
    ["refund INV-2024-01", "INV-2024-O1"],
    ["refund INV\u200b-2024-01", "INV-2024-01"],
    ["delete file 13", "13.0"],
    ["delete file 13", "013"],
    ["pay 13.0", 13],
    ["paid=13", 13],
    ["event_day: 13", 13],
    ["::13", 13],
    ["delete the general file", "general", "identifier"],
  ]);
});

describe("numbers", () => {
  table(true, [
    ["pay 98.70 EUR", 98.7, "number"],
    ["pay 98.70 EUR", "98.7"],
    ["pay $1,234.50", 1234.5],
    ["rent is 2200.", 2200, "number"],
    ["an additional 19.5% of", 19.5],
    ["a fee of 5.29.", "5.29"],
    ["a 4-hour hike", 4, "number"],
    ["We spent 12.00 in total", 12, "number"],
    ["it is −5 outside", -5, "number"],
    ["pay '13'", 13, "number"],
    ["pay 100USD", "100", "number"],
    ["buy two more of them", 2, "number"],
    ["Twelve seats, please", 12, "number"],
  ]);
  table(false, [
    ["pay 98.70", 98.71],
    ["pay 98.70", 9870, "number"],
    ["buy one of them", 1, "number"],
    ["pay two hundred", 2, "number"],
    ["pay two hundred", 200, "number"],
    ["twenty two of them", 2, "number"],
    ["twenty-two of them", 2, "number"],
    ["two and a half", 2, "number"],
    ["five point two", 2, "number"],
    ["five point two", 5, "number"],
    ["two 5 euro notes", 2, "number"],
    ["one two three", 2, "number"],
    ["the twofold way", 2, "number"],
    ["order two", 2, "identifier"],
    ["pay 1,234", 1, "number"],
    ["pay 1,234", 234, "number"],
    ["on June 13", 13, "number"],
    ["in March 2022", 2022, "number"],
    ["at 10:30", 30, "number"],
    ["order 13", 13, "number"],
    ["refund INV-2024-01", 2024, "number"],
    ["to UK12345678901234567890", "12345678901234567890", "number"],
    ["mail ann5@example.com", 5, "number"],
    ["read https://example.com/5", 5, "number"],
    ["open bill-5.txt", 5, "number"],
    ["version 1.2.3", 1.2, "number"],
    ["pages 3-5", 3, "number"],
    ["about 100", 1000, "number"],
    ["about 5\u200b0", 50, "number"],
  ]);
});

describe("text", () => {
  table(true, [
    ["titled 'Lunch' and with", "lunch"],
    ["for Sarah Baker at noon", "Sarah  Baker"],
    ["description Catch up over lunch.. Her address", "Catch up over lunch."],
    ["address: 1234 Elm Street, New York, NY 10001 and", "1234 Elm Street"],
    ["delete Mark's account", "Mark"],
    ["delete Mark’s account", "Mark's account"],
    ["the “Team – offsite” event", 'the "team - offsite" event'],
    ["ask @ann now", "@ann"],
    ["the time '12:00'", "12:00", "text"],
    ["the CAFÉ", "cafe\u0301"],
    ["line one\nline two", "one line"],
    ["Schedule the Follow-up meeting", "Follow-up meeting"],
  ]);
  table(false, [
    ["ask Sarah Baker", "Sarah B"],
    ["ask Sarah Baker", "arah Baker"],
    ["ask Sarah Baker", "Baker Sarah"],
    ["see not-evil.com", "evil.com", "text"],
    ["mail ann@example.com", "ann", "text"],
    ["mail ann@example.com", "example", "text"],
    ["read docs/secret/x", "secret", "text"],
    ["o'brien", "brien", "text"],
    ["x=lunch", "lunch"],
    ["wait...lunch", "lunch"],
    ["read https://example.com/lunch", "example.com/lunch", "text"],
    ["read https://lunch", "lunch"],
    ["on June 13", "13", "text"],
    ["lunch_box", "lunch"],
    ["lunch\u0301", "lunch"],
    ["lunch\u200bbox", "lunch"],
    ["lu\u00adnch", "lunch"],
    ["lunch", "lu\u200bnch"],
    ["lunch", "lun\u{e0063}ch"],
    ["pay paypal", "раypal"],
    ["lunch", "..."],
    ["lunch", " "],
    ["'a' and 'b'", "a' and 'b x"],
    ["東京に行く", "東京"],
  ]);
});

describe("lists, objects and what is no value", () => {
  const known = valuesIn(["mail ann@example.com about 'Lunch' and file 13", "bob@example.org"]);

  it("finds a value before an address that stands behind it with a sign and no space", () => {
    const found = (text: string, value: string, type: ValueType): boolean =>
      valuesIn([text]).has(value, type);
    expect(found("2024-05-26:https://a.example/x", "2024-05-26", "date")).toBe(true);
    expect(found("INV-2024-17=https://a.example/x", "INV-2024-17", "identifier")).toBe(true);
    expect(found("INV-2024-17=https://a.example/x", "INV-2024-1", "identifier")).toBe(false);
  });

  it("binds a list when every element is bound, also when there is none", () => {
    expect(known.has([])).toBe(true);
    expect(known.has(["ann@example.com", "bob@example.org"])).toBe(true);
    expect(known.has([["ann@example.com"], [13]])).toBe(true);
    expect(known.has(["ann@example.com", "eve@example.com"])).toBe(false);
    expect(known.has(["ann@example.com", null])).toBe(false);
  });

  it("binds an object when every value in it is bound", () => {
    expect(known.has({ to: "ann@example.com", about: { title: "Lunch" } })).toBe(true);
    expect(known.has({ to: "ann@example.com", about: { title: "Dinner" } })).toBe(false);
  });

  it("binds neither null, truth values, nor an empty text", () => {
    for (const value of [null, true, false, "", "  "]) expect(known.has(value)).toBe(false);
    for (const value of [null, true, false, ""]) expect(known.has(value, "text")).toBe(false);
  });

  it("binds nothing in a value that is nested deeper than JSON may be", () => {
    let value: Json = "ann@example.com";
    for (let depth = 0; depth < 20_000; depth += 1) value = [value];
    expect(known.has(value)).toBe(false);
  });

  it("takes no part of two texts for one value", () => {
    expect(valuesIn(["Sarah", "Baker"]).has("Sarah Baker")).toBe(false);
    expect(valuesIn(["file", "13"]).has("file 13", "text")).toBe(false);
    expect(valuesIn([]).has("x")).toBe(false);
    expect(valuesIn([""]).has("")).toBe(false);
  });

  it("finds nothing on the prototypes of its sets", () => {
    for (const word of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(known.has(word)).toBe(false);
      expect(known.has(word, "identifier")).toBe(false);
    }
  });

  it("binds what a text says of a type only under that type", () => {
    expect(known.has("ann@example.com", "url")).toBe(false);
    expect(known.has("ann@example.com", "iban")).toBe(false);
    expect(known.has("13", "number")).toBe(false);
    expect(known.has("13", "phone")).toBe(false);
  });
});
