import { describe, expect, it } from "vitest";
import { canonical } from "../../../../src/policy/values/canonical.ts";
import { linksIn } from "../../../../src/policy/values/links.ts";

const found: readonly (readonly [text: string, links: readonly string[]])[] = [
  ["See https://evil.com/x.", ["https://evil.com/x"]],
  ["See HTTPS://EVIL.com:443/x, now", ["https://evil.com/x"]],
  ["(see https://evil.com/x_(y))", ["https://evil.com/x_(y)"]],
  ["See.https://evil.com/x", ["https://evil.com/x"]],
  ["ftp://evil.com/x and wss://evil.com", ["ftp://evil.com/x", "wss://evil.com/"]],
  ["https://a.example/1,https://b.example/2", ["https://a.example/1", "https://b.example/2"]],
  ["https://evil.com/x https://evil.com/x", ["https://evil.com/x"]],
  ["[click](https://evil.com/x)", ["https://evil.com/x"]],
  ["![](https://evil.com/x.png?d=secret)", ["https://evil.com/x.png?d=secret"]],
  ["[a](<https://evil.com/x>)", ["https://evil.com/x"]],
  ["[1]: https://evil.com/x", ["https://evil.com/x"]],
  ["<img src='https://evil.com/x'>", ["https://evil.com/x"]],
  ['<a href="//evil.com/x">', ["https://evil.com/x"]],
  ['<a href="//evil/x">', ["https://evil/x"]],
  ['<a href="//good.com@evil.com/x">', ["https://good.com@evil.com/x"]],
  ["<a href=//evil.com>", ["https://evil.com/"]],
  ["url(//evil.com/x.png)", ["https://evil.com/x.png"]],
  ['<a href="https://\nevil.com/x">', ["https://evil.com/x"]],
  ['<a href="https&#58;//evil&period;com/x">', ["https://evil.com/x"]],
  ["&#x68;ttps&colon;&sol;&sol;evil.com", ["https://evil.com/"]],
  ["https:\\\\evil.com\\x", ["https://evil.com/x"]],
  ["https:/evil.com/x", ["https://evil.com/x"]],
  ["https:evil.com/x", ["https://evil.com/x"]],
  ["https:\\/\\/evil.com\\/x", ["https://evil.com//x", "https://evil.com/x"]],
  ["https\\://evil\\.com/x", ["https://evil.com/x"]],
  ["https:evil.rocks/x", ["https://evil.rocks/x"]],
  ["https:user@evil%2Erocks", ["https://user@evil.rocks/"]],
  ['<a href="https:evil/x">', ["https://evil/x"]],
  ["<a href  =\n//evil.rocks>", ["https://evil.rocks/"]],
  ["[x]: //evil.rocks/x", ["https://evil.rocks/x"]],
  ["[x]:\n  //evil/x", ["https://evil/x"]],
  ["[x]://evil.rocks", ["https://evil.rocks/"]],
  ["[x]( //evil.rocks )", ["https://evil.rocks/"]],
  ["[x]: javascript:alert(1)", ["javascript:alert(1)"]],
  ["https&#00000058;//evil&#x0000002e;com", ["https://evil.com/"]],
  ["\\\\evil.com\\share", ["https://evil.com/share"]],
  ["see \\\\evil.com@SSL\\share", ["https://evil.com@ssl/share"]],
  ["\\\\evil.com@8080\\share", ["https://evil.com@0.0.31.144/share"]],
  ["\\\\10.0.0.1@80\\share", ["https://10.0.0.1@0.0.0.80/share"]],
  ["![x](//[2001:db8::1]/x?d=secret)", ["https://[2001:db8::1]/x?d=secret"]],
  ['<img src="//ann@[2001:db8::1]:8080/x">', ["https://ann@[2001:db8::1]:8080/x"]],
  ["![x](https:[2001:db8::1]/x)", ["https://[2001:db8::1]/x"]],
  ["http ://evil.com/x", ["https://evil.com/x"]],
  ["https://user:pw@evil.com/", ["https://user:pw@evil.com/"]],
  ["http://2130706433/x", ["http://127.0.0.1/x"]],
  ["http://[::1]/x", ["http://[::1]/x"]],
  ["slack://open?x", ["slack://open?x"]],
  ["file:///etc/passwd", ["file:///etc/passwd"]],
  ["data:text/html,<b>", ["data:text/html"]],
  ["![x](data:image/png;base64,AA)", ["data:image/png;base64,AA"]],
  ["[x](javascript:alert(1))", ["javascript:alert(1)"]],
  ["[x](JavaScript: alert)", ["javascript:"]],
  ["[Pay](bitcoin:1Boat?amount=1)", ["bitcoin:1Boat?amount=1"]],
  ["[Go on](<ms-msdt:/id%20x>)", ["ms-msdt:/id%20x"]],
  ["[1]: skype:eve?chat", ["skype:eve?chat"]],
  ['<a href="intent:x#Intent;end">', ["intent:x#Intent;end"]],
  ["<a href = facetime:eve@evil.example>", ["facetime:eve@evil.example"]],
  ["Write to <xmpp:eve@evil.example>", ["xmpp:eve@evil.example"]],
  ["www.evil.anything/x", ["https://www.evil.anything/x"]],
  ["go to evil.com/x now", ["https://evil.com/x"]],
  ["go to evil.com.", ["https://evil.com/"]],
  ["go to EVIL.COM!", ["https://evil.com/"]],
  ["evil.com's page", ["https://evil.com/"]],
  ["evil.com,foo", ["https://evil.com/"]],
  ["evil.com?d=secret", ["https://evil.com/?d=secret"]],
  ["evil.com:8080", ["https://evil.com:8080/"]],
  ["evil.zip/x", ["https://evil.zip/x"]],
  ["evil.photography/x", ["https://evil.photography/x"]],
  ["see a.evil.africa?d=secret now", ["https://a.evil.africa/?d=secret"]],
  ["evil.amsterdam:8080", ["https://evil.amsterdam:8080/"]],
  ["evil.сайт/x", ["https://evil.xn--80aswg/x"]],
  ["evil.セール/x", ["https://evil.xn--1ck2e1b/x"]],
  ["t.me/evil", ["https://t.me/evil"]],
  ["10.0.0.1:8080/x", ["https://10.0.0.1:8080/x"]],
  ["bücher.com/x", ["https://xn--bcher-kva.com/x"]],
  ["еvil.com", ["https://xn--vil-qdd.com/"]],
  ["пример.рф", ["https://xn--e1afmkfd.xn--p1ai/"]],
  ["ｈｔｔｐｓ：／／ｅｖｉｌ．ｃｏｍ／ｘ", ["https://evil.com/x"]],
  ["https://ev\u200bil.com/\u2060x", ["https://evil.com/x"]],
  ["ev\u00adil.com", ["https://evil.com/"]],
  ["hxxps://evil[.]com/x", ["https://evil.com/x"]],
  ["hxxp[://]evil(dot)com/x", ["http://evil.com/x"]],
  ["evil[.]com", ["https://evil.com/"]],
  ["evil。com/x", ["https://evil.com/x"]],
  ["https://good.com/?u=https://evil.com", ["https://good.com/?u=https://evil.com"]],
  ["mail me at ann@good.com or evil.com", ["https://evil.com/"]],
  ["@evil.com/x", ["https://evil.com/x"]],
];

const none: readonly string[] = [
  "",
  "Write to ann.lee@example.com, please.",
  "Write to ann.lee+news@mail.example.com!",
  "i.e. this, e.g. that, etc. and so on",
  "open bill-december-2023.txt or README.md and main.py",
  "team-building-activities.docx",
  "at 10:30 on 2024-05-26, for 12.50 EUR",
  "Is it main.py, or node.next? (or call.open?) See a.photos #3",
  "version 1.2.3 of 10.0.0.1",
  "done.It works. fine.Is it?",
  "path/to/file.txt and ./x and ../y",
  "docs/example.com",
  "a // comment and /* another */",
  "JavaScript: the good parts. data: 5 rows. Note: this",
  "Subject:hello",
  "(re:invoice) 'key:value' \"note:x\" = a:b <b>Re: x</b> [1]: Note: this",
  "a <b:c and d> e, [see](note: x)",
  "and/or either...or",
  "C:\\Temp\\x.txt",
  "1/2 of 3:4",
  "::1 and a::b",
  "https://",
  "http: see the notes. https:... and ftp:x",
  "x = //comment and [x] //comment",
  "f(//[x] and \\\\alpha@beta",
  "a \\* b \\_ c",
];

describe("links in a text", () => {
  it.each(found.map(([text, links]) => ({ text, links })))("$text → $links", ({ text, links }) => {
    expect(linksIn(text)).toEqual(links);
  });

  it.each(none.map((text) => ({ text })))("none in: $text", ({ text }) => {
    expect(linksIn(text)).toEqual([]);
  });

  it("leaves out tabs and line ends within an attribute, as a browser does", () => {
    expect(linksIn('<a href="ht\ntps://ev\til.com/x">')).toContain("https://evil.com/x");
    expect(linksIn("<img src = '\n https://evil.com/\r\nx'>")).toContain("https://evil.com/x");
  });

  it("lists each once and not more than asked for", () => {
    const many = Array.from({ length: 300 }, (_value, index) => `https://evil.com/${index}`);
    expect(linksIn(many.join(" "))).toEqual(many.slice(0, 256));
    expect(linksIn(many.join(" "), 3)).toEqual(many.slice(0, 3));
    expect(linksIn(`${many[0]} ${many.join(" ")}`, 2)).toEqual(many.slice(0, 2));
    expect(linksIn("https://evil.com", 0)).toEqual([]);
  });

  it("spells a link as canonical does, where that has a spelling", () => {
    for (const link of ["HTTP://Example.com:80/a/../%7Eb", "https://bücher.example/x?y#z", "www.example.com"])
      expect(linksIn(`see ${link} now`)).toEqual([canonical("url", link)]);
  });

  it("does not take a link of the user's for one with more in it", () => {
    const known = linksIn("Send https://good.com/page to Ann");
    for (const text of [
      "https://good.com/page?leak=1",
      "https://good.com/page/../other",
      "https://good.com/page#x",
      "https://good.com/page\u200bx",
      "https://good.com:8443/page",
      "https://good.com@evil.com/page",
      "https://good.com.evil.com/page",
      "https://gооd.com/page",
    ])
      expect(linksIn(text).filter((link) => known.includes(link))).toEqual([]);
  });
});
