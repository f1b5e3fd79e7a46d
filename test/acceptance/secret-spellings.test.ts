import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, net, secret, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

let server: Server;
let site = "";
/** How the server writes what it was sent. */
let spell: (key: string) => string;

const keys = {
  WRIT_SPELL_SIGNS: "Zq7/x+W=9&k<u>\"\\v'e8",
  WRIT_SPELL_LETTERS: "Zq7-schlüßel-ø",
  WRIT_SPELL_PADDED: "  padded-Zq7-key  ",
  WRIT_SPELL_LONG: Array.from({ length: 300 }, (_, index) => `Zq7${(index * 7919).toString(36)}/`).join("+"),
};
type Key = keyof typeof keys;

beforeAll(async () => {
  Object.assign(process.env, keys);
  server = createServer((request, response) => {
    response.end(spell(String(request.headers["x-key"])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  for (const name of Object.keys(keys)) delete process.env[name];
});

/** Everything that a run tells whose tool gives what the server wrote, and throws it when it is called again. */
async function told(name: Key): Promise<string> {
  const look = tool({
    name: "look",
    description: "Look",
    inputSchema: { type: "object" },
    needs: [net(site), secret(name)],
    effect: "read",
    async execute(args, { fetch, secret: take, progress }) {
      const text = await (await fetch(site, { headers: { "x-key": take(name) } })).text();
      progress(text);
      if (args["throws"] === true) throw new Error(text);
      return { [text]: text };
    },
  });
  const calls = [false, true].map((throws) => ({ name: "look", arguments: { throws } }));
  const model = scripted([{ calls }, "done"]);
  const looker = agent({ name: "looker", model, tools: [look], grants: [net(site), secret(name)] });
  const events = looker.stream("Look");
  const all: unknown[] = [];
  for (;;) {
    const next = await events.next();
    all.push(next.value);
    if (next.done === true) break;
  }
  all.push(model.requests.map(({ messages }) => [...messages]));
  return all
    .map((each) => `${inspect(each, { depth: 20, maxStringLength: null })} ${JSON.stringify(each)}`)
    .join("\n");
}

const ascii = (text: string): string =>
  text.replaceAll(/[^ -~]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const upper = (text: string): string =>
  text.replaceAll(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`);
const html = (text: string): string =>
  text.replaceAll(/[&<>]/g, (sign) => String.raw`\u00${sign.charCodeAt(0).toString(16)}`);
const lines = (text: string): string => text.replaceAll(/.{10}/g, "$&\r\n");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

const spellings: readonly (readonly [who: string, name: Key, spell: (key: string) => string])[] = [
  [
    "a writer that escapes slashes",
    "WRIT_SPELL_SIGNS",
    (key) => JSON.stringify({ key }).replaceAll("/", "\\/"),
  ],
  ["a writer that escapes what is a tag in HTML", "WRIT_SPELL_SIGNS", (key) => html(JSON.stringify({ key }))],
  ["the same in upper case", "WRIT_SPELL_SIGNS", (key) => upper(html(JSON.stringify({ key })))],
  [
    "a writer that escapes every sign",
    "WRIT_SPELL_SIGNS",
    (key) => key.replaceAll(/\W/g, (sign) => String.raw`\u00${sign.charCodeAt(0).toString(16)}`),
  ],
  [
    "such JSON in JSON in JSON",
    "WRIT_SPELL_SIGNS",
    (key) => JSON.stringify(JSON.stringify(html(JSON.stringify(key)))),
  ],
  ["a writer of ASCII", "WRIT_SPELL_LETTERS", (key) => ascii(JSON.stringify({ key }))],
  ["a writer of ASCII in upper case", "WRIT_SPELL_LETTERS", (key) => upper(ascii(JSON.stringify({ key })))],
  ["a writer of composed letters", "WRIT_SPELL_LETTERS", (key) => key.normalize("NFC")],
  ["a writer of letters and marks", "WRIT_SPELL_LETTERS", (key) => key.normalize("NFD")],
  ["the same in ASCII", "WRIT_SPELL_LETTERS", (key) => ascii(key.normalize("NFD"))],
  [
    "the same in percent",
    "WRIT_SPELL_LETTERS",
    (key) => encodeURIComponent(key.normalize("NFD")).toLowerCase(),
  ],
  [
    "an address that leaves some signs",
    "WRIT_SPELL_SIGNS",
    (key) => key.replaceAll("/", "%2F").replaceAll("&", "%26"),
  ],
  ["the same in lower case", "WRIT_SPELL_SIGNS", (key) => key.replaceAll("/", "%2f").replaceAll("=", "%3d")],
  ["an address in an address", "WRIT_SPELL_SIGNS", (key) => encodeURIComponent(encodeURIComponent(key))],
  ["JSON in an address", "WRIT_SPELL_SIGNS", (key) => encodeURIComponent(JSON.stringify({ key }))],
  [
    "a page",
    "WRIT_SPELL_SIGNS",
    (key) => key.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&#34;"),
  ],
  ["a mail", "WRIT_SPELL_SIGNS", (key) => lines(base64(`user:${key}`))],
  [
    "a mail in JSON",
    "WRIT_SPELL_SIGNS",
    (key) => JSON.stringify(lines(base64(`us:${key}`))).replaceAll("/", "\\/"),
  ],
  ["base64 for addresses", "WRIT_SPELL_SIGNS", (key) => Buffer.from(key).toString("base64url")],
  ["base64 in an address", "WRIT_SPELL_SIGNS", (key) => encodeURIComponent(base64(`u:${key}`))],
  ["HTTP, which drops blanks at both ends", "WRIT_SPELL_PADDED", (key) => key.trim()],
  ["the same in base64", "WRIT_SPELL_PADDED", (key) => base64(key.trim())],
  ["a header, which has no upper case in names", "WRIT_SPELL_PADDED", (key) => key.toLowerCase()],
  ["a writer of a long key", "WRIT_SPELL_LONG", (key) => JSON.stringify(key).replaceAll("/", "\\/")],
  ["a mail with a long key", "WRIT_SPELL_LONG", (key) => base64(key).replaceAll(/.{76}/g, "$&\r\n")],
];

describe("a key that a server sends back", () => {
  it.each(spellings)("is told to nobody in the spelling of %s", async (_who, name, spelled) => {
    spell = spelled;
    const everything = await told(name);
    expect(everything).toContain(`[secret ${name}]`);
    const piece = /.?q7.{3}/i; // the beginning of each key, and what follows
    expect(everything).not.toMatch(piece);
    for (const told of [spelled(keys[name]), spelled(keys[name].trim())]) {
      const tail = told.replaceAll(/\s+$/g, "").slice(-12, -2);
      expect(everything, tail).not.toContain(tail);
    }
  });
});
