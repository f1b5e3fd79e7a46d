import { describe, expect, it } from "vitest";
import { canonical } from "../../../../src/policy/values/canonical.ts";
import { linksIn } from "../../../../src/policy/values/links.ts";
import { valuesIn } from "../../../../src/policy/values/bound-values.ts";
import type { ValueType } from "../../../../src/tool/parameters.ts";

type Row = readonly [text: string, value: string | number, type?: ValueType];

function table(bound: boolean, rows: readonly Row[]): void {
  it.each(rows.map(([text, value, type]) => ({ text, value, type })))(
    `${bound ? "" : "no "}$value ($type) in: $text`,
    ({ text, value, type }) => {
      expect(valuesIn([text]).has(value, type)).toBe(bound);
    },
  );
}

describe("a part of a longer name is another name", () => {
  table(false, [
    ["Write to 'Bob Smith'", "Bob"],
    ["Write to 'Bob Smith'", "Smith"],
    ["Reserve 'Park House' on Monday", "House"],
    ["Reserve “Park House”", "Park", "text"],
    ["write to Bob Smith", "Bob"],
    ["write to Bob Smith about it", "Smith about"],
    ["please ask Ida van Berg O'Neil Smith", "Smith"],
    ["Bob Smith needs it", "Bob"],
    ["delete 'old notes.txt'", "notes.txt", "path"],
    ["close 'INV-7 final'", "INV-7", "identifier"],
    ["close 'case number 13'", "13", "identifier"],
  ]);
  table(true, [
    ["Write to 'Bob Smith'", "Bob Smith"],
    ["Write to 'Bob'", "Bob"],
    ["write to Bob Smith", "bob smith"],
    ["write to Bob Smith about the boat", "Bob Smith about the boat"],
    ["Add Kim to the Billing group", "Kim"],
    ["Add Kim Lee to the Billing group", "Kim Lee"],
    ["Add Kim Lee to the group. Tell Ann Ray.", "Ann Ray"],
    ["Meet Kim Monday at ten", "Kim"],
    ["See Kim Lee's notes", "Kim Lee"],
    ["read 'old notes.txt' and notes.txt", "notes.txt", "path"],
    ["the 'Park House' and the house", "house"],
  ]);
});

describe("a day has the year that the text gives it", () => {
  table(false, [
    ["from January 11th to January 15th 2025", "2024-01-11"],
    ["from January 11th to 15th 2025", "2024-01-11"],
    ["on 2025-03-01, or April 2nd", "2024-04-02"],
    ["January 11th to 15th 2025", "2025-02-15"],
  ]);
  table(true, [
    ["from January 11th to January 15th 2025", "2025-01-11"],
    ["from January 11th to January 15th 2025", "2025-01-15"],
    ["January 11th to 15th 2025", "2025-01-11"],
    ["January 11th to 15th 2025", "2025-01-15"],
    ["the 11th to the 15th of January 2025", "2025-01-11"],
    ["the 11th to the 15th of January 2025", "2025-01-15"],
    ["on May 26th", "2024-05-26"],
    ["on 2025-03-01, or April 2nd", "2025-04-02"],
  ]);
});

describe("names of things, as people write them", () => {
  table(true, [
    ["your reservation id is HXDUBJ", "HXDUBJ", "identifier"],
    ["change reservation NO6JOG", "NO6JOG", "identifier"],
    ["fly from JFK to SEA", "JFK", "identifier"],
    ["ship it to ZIP 10001", "10001"],
    ["ship it to 02139", "02139"],
    ["ship it to 02139", "02139", "identifier"],
    ["New York, NY 10001", "10001", "text"],
    ["pay UK12345678901234567890", "UK12345678901234567890", "iban"],
    ["pay UK12 3456 7890 1234 5678 90 today", "UK12345678901234567890", "iban"],
    ["pay account 000123456789", "000123456789", "iban"],
    ["post it in the ops room", "#ops"],
    ["I saw it at www.example.com.They sent it", "www.example.com", "url"],
  ]);
  table(false, [
    ["your reservation id is missing", "missing", "identifier"],
    ["pay 50", "50", "iban"],
    ["post it in the ops-room", "#ops"],
    ["the 10001 guests", "10001"],
  ]);
});

describe("spaces and dashes that programs write between digits", () => {
  table(true, [
    ["Call +49\u00a030\u00a01234567", "+49301234567", "phone"],
    ["Call +49 30\u20111234567", "+49 30 1234567", "phone"],
    ["Call 030\u20131234567 today", "0301234567", "phone"],
    ["Call +49301234567", "+49 30\u20111234567", "phone"],
    ["pay DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000 now", "DE89370400440532013000", "iban"],
    ["pay DE89370400440532013000", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "iban"],
  ]);
});

describe("words and letters that make a number larger", () => {
  table(true, [
    ["pay 5 lakh rupees to Ann", 500_000, "number"],
    ["pay 1.5 crore to Ann", 15_000_000, "number"],
    ["pay 5 Mio. euros to Ann", 5_000_000, "number"],
    ["pay 2 bn to Ann", 2_000_000_000, "number"],
    ["pay 3 millions to Ann", 3_000_000, "number"],
    ["pay 5 k euros to Ann", "5000 EUR", "number"],
  ]);
  table(false, [
    ["pay 5 lakh rupees to Ann", 5, "number"],
    ["pay 5 Mio. euros to Ann", 5, "number"],
    ["pay 5 k euros to Ann", 5, "number"],
    ["pay 5 grand to Ann", 5, "number"],
    ["pay 5, k", 5000, "number"],
  ]);
});

describe("thousands as Swiss and Indians write them", () => {
  table(true, [
    ["pay CHF 1'250.50 to Ann", 1250.5, "number"],
    ["pay 12\u2019500 francs", 12_500, "number"],
    ["pay 12500 francs", "12'500", "number"],
    ["pay \u20b91,50,000 to Ann", 150_000, "number"],
    ["pay 1,00,00,000 rupees", "10000000", "number"],
  ]);
  table(false, [
    ["pay 1'250.50 to Ann", 1, "number"],
    ["pay 12'50 to Ann", 1250, "number"],
    ["pay 1,50,000 to Ann", 50_000, "number"],
    ["pay 1,50,00 to Ann", 15_000, "number"],
    ["pay 01'000 to Ann", 1000, "number"],
  ]);
});

describe("thousands with spaces, as much of Europe writes them", () => {
  table(true, [
    ["pay 1 000 EUR to Ann", 1000, "number"],
    ["pay 1 000 EUR to Ann", "1000 EUR", "number"],
    ["pay 12 500,50 € to Ann", 12_500.5, "number"],
    ["pay €1 250 000.", 1_250_000, "number"],
    ["pay € 1 250 to Ann", "1250 EUR", "number"],
    ["pay 2 500 euros to Ann", 2500, "number"],
    ["buy 1 000 cups", 1000, "number"],
    ["buy 3 of 10 050 cups", 10_050, "number"],
    ["take 5 500 times", 5, "number"],
    ["take 5 500 times", 500, "number"],
    ["pay on May 5 100 EUR", "100 EUR", "number"],
    ["in 2026 500 EUR went to Ann", 500, "number"],
    ["pay 5 100% vouchers", 5, "number"],
    ["pay 5 million 100 EUR", 100, "number"],
  ]);
  table(false, [
    ["pay 1 000 EUR to Ann", 1, "number"],
    ["pay 12 500,50 € to Ann", 500.5, "number"],
    ["pay 12 500,50 € to Ann", 12, "number"],
    ["pay €1 250 000.", "€1", "number"],
    ["pay €1 250 000.", 250, "number"],
    ["pay 1 000 to Ann", 1, "number"],
    ["pay 1  000 EUR", 1000, "number"],
    ["pay 1000 500 EUR", 1_000_500, "number"],
    ["pay 01 500 EUR", 1500, "number"],
    ["pay 1 50 EUR", 150, "number"],
  ]);
});

describe("three digits behind a dot, which are thousands to half of the world", () => {
  table(true, [
    ["pay 50.000 EUR to Ann", "50.000 EUR", "number"],
    ["pay 1.234 EUR to Ann", "1.234", "number"],
    ["move it by 0.500 m", 0.5, "number"],
    ["scale it by 1.125", 1.125, "number"],
  ]);
  table(false, [
    ["pay 50 EUR to Ann", "50.000", "number"],
    ["pay 1.5 BTC to Ann", "1.500", "number"],
    ["pay 50.000 EUR to Ann", 50, "number"],
    ["pay 50.000 EUR to Ann", 50_000, "number"],
    ["pay 1.500 EUR to Ann", 1.5, "number"],
  ]);
});

describe("pictures among words", () => {
  table(true, [
    ["label it \u26a0\ufe0f urgent", "\u26a0\ufe0f urgent", "text"],
    ["open the page '\u{1f6e0}\ufe0f Roadmap'", "\u{1f6e0}\ufe0f Roadmap"],
    ["post it in \u{1f469}\u{1f3fd}\u200d\u{1f680} crew", "\u{1f469}\u{1f3fd}\u200d\u{1f680} crew", "text"],
    ["react with \u{1f44d}", "\u{1f44d}", "text"],
  ]);
  table(false, [
    ["write to Ann", "An\u200dn", "text"],
    ["write to Ann", "Ann\ufe0f", "text"],
    ["write to Ann \u{1f44d}", "Ann \u{1f44d}\u200d", "text"],
    ["write to \u{1f44d}\ufe0e", "\u{1f44d}", "text"],
    ["write to ann\u26a0\ufe0f@x.com", "ann@x.com", "email"],
    ["label it urgent", "\u26a0\ufe0f urgent", "text"],
  ]);
});

describe("names with lines below, and lists", () => {
  table(true, [
    ["tell user ann_lee", "ann_lee", "identifier"],
    ["cancel orders 12 & 13", "13", "identifier"],
  ]);
  table(false, [
    ["tell user ann_lee", "lee", "identifier"],
    ["tell user _ann_lee", "ann_lee", "identifier"],
    ["draw __ here", "__", "identifier"],
  ]);
});

describe("an address is compared as the tool gets it", () => {
  it.each(["ﬀ@x.com", "ſ@example.com", "\u212a@x.com", "ff＠x.com", "ｆ@x.com"])(
    "%s is nobody's",
    (address) => {
      expect(canonical("email", address)).toBeUndefined();
    },
  );
  it.each([
    ["ff@x.photography", "ﬀ@x.photography"],
    ["Kim@x.com", "\u212aim@x.com"],
  ])("%s, without a type, is not %s", (said, address) => {
    expect(valuesIn([`Write to ${said}`]).has(address)).toBe(false);
  });
  it("takes letters beyond ASCII that are what they look like", () => {
    expect(canonical("email", "Jörg@Example.com")).toBe("jörg@example.com");
  });
});

describe("links without a scheme of the web", () => {
  it.each([
    ["write to mailto:x@evil.example", ["mailto:x@evil.example"]],
    ["[call](tel:+1-900-555-0100)", ["tel:+1-900-555-0100"]],
    ["sms:+19005550100?body=hi", ["sms:+19005550100?body=hi"]],
    ["MAILTO:x@evil.example.", ["mailto:x@evil.example"]],
    ["get it at evil.zip", ["https://evil.zip/"]],
    ["at evil.example now", ["https://evil.example/"]],
    ["the hotel: +47 22 33 44 55", []],
    ["tel: +47 22 33 44 55", []],
    ["open main.py and run.sh", []],
  ])("%s", (text, links) => {
    expect(linksIn(text)).toEqual(links);
  });
});

describe("a raised or circled digit is no digit of the number beside it", () => {
  table(false, [
    ["Pay 500¹ euro to Ann", 5001, "number"],
    ["Pay ①500 euro to Ann and ②300 to Bob", 1500, "number"],
    ["close invoice 10²", 102],
    ["close invoice A7²", "A72"],
    ["pay DE89370400440532013000¹", "DE893704004405320130001", "iban"],
    ["call +491701234567¹", "+4917012345671", "phone"],
    ["meet on May 1² at ten", "May 12th", "date"],
    ["send it to unit 500¹", "unit 5001"],
  ]);
  table(true, [
    ["close invoice #①", 1],
    ["close invoice A7²", "A7²"],
    ["measure CO₂ here", "co2", "text"],
    ["Pay ５００ euro", 500, "number"],
  ]);
});

describe("an amount with a currency is bound with that currency, where the text has one", () => {
  table(false, [
    ["Pay Ann 5 EUR", "5 BTC", "number"],
    ["Pay Ann 5.50 EUR", "5.50 BTC"],
    ["Pay Ann €5", "$5", "number"],
    ["Pay Ann $ 5", "5 EUR", "number"],
    ["Pay Ann USD 5", "5 BTC", "number"],
    ["Pay Ann 5 euros", "5 USD", "number"],
    ["Pay Ann five euros", "5 BTC", "number"],
    ["Pay Ann 5 eur", "5 BTC", "number"],
    ["Give Ann 5 % off", "5 EUR", "number"],
    ["Pay Ann 5 EUR", "5%", "number"],
    ["Pay Ann 1.234,56 €", "1234.56 BTC", "number"],
    ["Pay Ann 5 pounds", "$5", "number"],
    ["Pay Ann five rupees", "5 EUR", "number"],
    ["Pay Ann 5 francs", "5 BTC", "number"],
    ["Pay Ann 50 cents", "50 EUR", "number"],
  ]);
  table(true, [
    ["Pay Ann 5 EUR", "5 EUR", "number"],
    ["Pay Ann 5 EUR", "€5", "number"],
    ["Pay Ann €5", 5, "number"],
    ["Pay Ann €5", "5", "number"],
    ["Pay Ann 5 euros", "5.00 EUR", "number"],
    ["Pay Ann five dollars", "$5", "number"],
    ["Pay Ann US$5", "5 USD", "number"],
    ["Pay Ann 5", "5 USD", "number"],
    ["Pay Ann 5, and try again", "5 USD", "number"],
    ["Pay Ann 5 try again", "5 USD", "number"],
    ["Give Ann 5 percent off", "5%", "number"],
    ["Pay Ann 1.234,56 €", "1,234.56 EUR", "number"],
    ["Pay Ann 5 EUR and Bob 5 USD", "5 USD", "number"],
    ["Pay Ann 5 pounds", "£5", "number"],
    ["Pay Ann 50 cents", 50, "number"],
  ]);
});

describe("a slash between two words is no path", () => {
  table(false, [
    ["Compare red / green, and remove the worse one", "/"],
    ["Move offer 3 / 4 to the archive", "/", "path"],
    ["Read C \\ D", "\\", "path"],
  ]);
  table(true, [
    ["List what is in / and its folders", "/"],
    ["Search '/' for notes", "/"],
    ["Search /", "/"],
    ["Search / (all of it)", "/"],
    ["/", "/"],
  ]);
});

describe("a number before a word like thousand is a part of a larger one", () => {
  table(false, [
    ["Sell the boat for 5 thousand euros", 5, "number"],
    ["Sell the boat for 5 million", 5, "number"],
    ["Sell the boat for 2.5 million", 2.5, "number"],
    ["Sell the boat for $5 million", "$5", "number"],
    ["Sell it for 5\u00a0000 euros", 5, "number"],
    ["Sell it for 5\u202f000 euros", 5, "number"],
    ["Move 5 million of 5 thousand", 5, "number"],
  ]);
  table(true, [
    ["Sell the boat for 5 thousand euros", 5000, "number"],
    ["Sell the boat for 2.5 million", 2_500_000, "number"],
    ["Sell the boat for $1.2 billion", 1_200_000_000, "number"],
    ["Sell the boat for 5 thousand euros", "5000 EUR", "number"],
    ["Sell 3 boats for 5 million", 3, "number"],
  ]);
});

describe("a path with `..` behind a name, which may be a link, is bound as it is written", () => {
  table(false, [
    ["Delete notes/a.md", "notes/link/../a.md"],
    ["Delete a.md", "link/../a.md", "path"],
    ["Delete /srv/a.md", "/srv/link/../a.md"],
    ["Delete C:\\notes\\a.md", "C:\\notes\\$(old)\\..\\a.md"],
  ]);
  table(true, [
    ["Delete notes/old/../a.md", "notes/old/../a.md"],
    ["Delete ../a.md", ".././a.md"],
    ["Delete C:\\notes\\a.md", "C:\\notes\\old\\..\\a.md", "path"],
  ]);
});

describe("an ending with a capital letter belongs to its host, unless a sentence begins with it", () => {
  table(false, [
    ["Mail ann@bank.co.Uk", "ann@bank.co"],
    ["Mail ann@bank.com.Au", "ann@bank.com"],
    ["Look at bank.com.Br", "bank.com", "host"],
    ["Look at bank.com.Br", "https://bank.com/"],
  ]);
  table(true, [
    ["Mail ann@bank.co.Uk", "ann@bank.co.uk"],
    ["Mail ann@bank.com.Tell her all", "ann@bank.com"],
    ["Mail ann@bank.com.It is late", "ann@bank.com"],
  ]);
});
