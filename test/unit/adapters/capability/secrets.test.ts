import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodePowers } from "../../../../src/adapters/capability/node-powers.ts";
import { scrubBytes } from "../../../../src/adapters/capability/secrets.ts";
import { env, exec, net, secret } from "../../../../src/tool/capability.ts";
import type { Secret } from "../../../../src/tool/handles.ts";
import { cpuMs, growth } from "../../../cpu-time.ts";
import { end, openHandles } from "./open-handles.ts";
import { type TestServer, testServer } from "./test-server.ts";

const value = 'sk-Ab/+"ü9\\ &z';
const variables = {
  HANDLE_KEY: value,
  HANDLE_SHORT: "12345",
  HANDLE_EMPTY: "",
  HANDLE_CITY: "Lima",
  HANDLE_HEADER: "tok/en+1",
};
let server: TestServer;

beforeAll(async () => {
  Object.assign(process.env, variables);
  server = await testServer();
});

afterAll(async () => {
  for (const name of Object.keys(variables)) delete process.env[name];
  await server.close();
});

describe("env [Y11]", () => {
  it("gives the values of what was declared and granted, and no others", async () => {
    const { env: read, looks, close } = openHandles([env("HANDLE_CITY"), env("HANDLE_X*")]);
    expect(read("HANDLE_CITY")).toBe("Lima");
    expect(read("HANDLE_XYZ")).toBeUndefined();
    for (const name of ["HANDLE_KEY", "PATH", "", "X=Y", "__proto__", "constructor", "HANDLE_X=Y"])
      expect(await end(() => read(name)), name).toContain("capability-denied");
    expect(looks.slice(0, 3)).toEqual(["env(HANDLE_CITY)", "env(HANDLE_XYZ)", "not env(HANDLE_KEY)"]);
    expect(await end(() => openHandles([env("constructor")]).env("constructor"))).toBeUndefined();
    close();
    expect(await end(() => read("HANDLE_CITY"))).toContain("capability-closed");
  });
});

describe("secrets [Y21]", () => {
  it("show their name, and their value to nobody", () => {
    const key = openHandles([secret("HANDLE_KEY")]).secret("HANDLE_KEY");
    const shown = "[secret HANDLE_KEY]";
    expect(key.name).toBe("HANDLE_KEY");
    expect([String(key), `${key as unknown as string}x`.slice(0, -1), key.toString(), key.toJSON()]).toEqual(
      Array.from({ length: 4 }, () => shown),
    );
    expect(JSON.stringify({ key })).toBe(`{"key":"${shown}"}`);
    expect([inspect(key), inspect({ key }, { showHidden: true, depth: 9 })].join()).toContain(shown);
    expect([Object.keys(key), { ...key }, Object.isFrozen(key)]).toEqual([[], {}, true]);
    expect(structuredClone({ key })).toEqual({ key: {} });
    const reachable = Reflect.ownKeys(key).map((name) =>
      inspect(Reflect.get(key, name), { showHidden: true }),
    );
    expect(reachable.join()).not.toContain("sk-");
    expect(inspect(key, { showHidden: true, customInspect: false, depth: 9 })).not.toContain("sk-");
  });

  it("are missing, too short, or not granted", async () => {
    const { secret: take, close } = openHandles([
      secret("HANDLE_NONE"),
      secret("HANDLE_EMPTY"),
      secret("HANDLE_SHORT"),
    ]);
    expect(await end(() => take("HANDLE_NONE"))).toContain("secret-missing");
    expect(await end(() => take("HANDLE_EMPTY"))).toContain("secret-missing");
    expect(await end(() => take("HANDLE_SHORT"))).toContain("fewer than 6 characters");
    expect(await end(() => take("HANDLE_KEY"))).toContain("capability-denied");
    expect(
      await end(() =>
        openHandles([secret("HANDLE_KEY")], { grants: [env("HANDLE_KEY")] }).secret("HANDLE_KEY"),
      ),
    ).toContain("capability-denied");
    close();
    expect(await end(() => take("HANDLE_NONE"))).toContain("capability-closed");
  });

  it("are sent in headers and given to programs, and nowhere else", async () => {
    const needs = [net(server.origin), secret("HANDLE_HEADER"), exec("printenv")];
    const { fetch, secret: take, exec: run } = openHandles(needs);
    const key = take("HANDLE_HEADER");
    await fetch(server.origin, { headers: { authorization: ["Bearer ", key], "x-key": key } });
    expect(server.requests.at(-1)?.headers).toMatchObject({
      authorization: "Bearer tok/en+1",
      "x-key": "tok/en+1",
    });
    expect((await run("printenv", ["KEY"], { env: { KEY: key } })).stdout).toBe("tok/en+1\n");
    // made a text by mistake: nothing is sent
    const count = server.requests.length;
    expect(
      await end(() => fetch(server.origin, { headers: { authorization: `Bearer ${key.toString()}` } })),
    ).toContain('["Bearer ", key]');
    expect(await end(() => run("printenv", [String(key)]))).toContain("was made a text");
    expect(
      await end(() => fetch(server.origin, { method: "POST", body: key as unknown as string })),
    ).toContain("a text or bytes");
    expect(
      await end(() => fetch(server.origin, { method: "POST", body: `key=${key.toString()}` })),
    ).toContain("was made a text");
    expect(server.requests).toHaveLength(count);
  });

  it("belong to the call that took them, and cannot be made by hand", async () => {
    const first = openHandles([secret("HANDLE_HEADER")]).secret("HANDLE_HEADER");
    const { fetch } = openHandles([net(server.origin), secret("HANDLE_HEADER")]);
    const forged = { name: "HANDLE_HEADER", toString: () => "x", toJSON: () => "x" };
    expect(await end(() => fetch(server.origin, { headers: { x: first } }))).toContain("belongs to the call");
    for (const thing of [forged, Object.create(first) as Secret, null, 5, {}] as Secret[])
      expect(await end(() => fetch(server.origin, { headers: { x: thing } }))).toContain(
        "only texts and secrets",
      );
  });
});

describe("scrubbing [Y21]", () => {
  it("takes out the value in every spelling", () => {
    openHandles([secret("HANDLE_KEY")]).secret("HANDLE_KEY");
    expect(nodePowers.holdsSecrets).toBe(true);
    const json = JSON.stringify({ text: `a ${value} b` });
    const spellings = [
      value,
      json,
      JSON.stringify({ arguments: json }),
      encodeURIComponent(value),
      encodeURI(value),
      encodeURIComponent(value).toLowerCase().replace("ab", "Ab").replace("sk-", "sk-"),
      new URLSearchParams({ q: value }).toString(),
      ...["", "u", "us", "use", "user:"].map((before) => Buffer.from(`${before}${value}`).toString("base64")),
      ...["", "u", "us"].map((before) => Buffer.from(`${before}${value}and more`).toString("base64url")),
    ];
    const told = value.slice(3);
    for (const spelling of spellings) {
      const clean = nodePowers.scrub(`before ${spelling} after ${spelling}`);
      expect(clean.split("[secret HANDLE_KEY]"), spelling).toHaveLength(3);
      for (const piece of [value, told, encodeURIComponent(told)]) expect(clean).not.toContain(piece);
    }
  });

  it.each([
    [
      "letters and marks, told as letters",
      "ke\u0301y-a\u030angstro\u0308m",
      (key: string) => key.normalize("NFC"),
    ],
    ["marks in another order", "key-a\u0301\u0323-key", (key: string) => key],
    ["UTF-8 that was read as Latin-1", "key-ärger-ß", (key: string) => Buffer.from(key).toString("latin1")],
    ["Latin-1 that was read as UTF-8", "key-ärger-ß", (key: string) => Buffer.from(key, "latin1").toString()],
    ["signs of two units", "key-😀-key", (key: string) => key.replace("😀", String.raw`\ud83d\uDE00`)],
    ["the same as one number", "key-😀-key", (key: string) => key.replace("😀", String.raw`\u{1F600}`)],
    ["the same in eight digits", "key-😀-key", (key: string) => key.replace("😀", String.raw`\U0001f600`)],
    ["the same in a page", "key-😀-key", (key: string) => key.replace("😀", "&#128512;")],
    ["percent signs", "key%41%2525-key", (key: string) => key],
    ["encoded percent signs", "key%41%2525-key", (key: string) => encodeURIComponent(key)],
    ["many backslashes", String.raw`\\server\\"k\n`, (key: string) => JSON.stringify(JSON.stringify(key))],
    [
      "lines",
      "-----BEGIN-----\nMIIE\n-----END-----",
      (key: string) => JSON.stringify(key).replaceAll("-", String.raw`\u002D`),
    ],
    ["upper case", "key-lower", (key: string) => key.toUpperCase()],
  ])("takes out a value with %s", (_what, key, spell) => {
    process.env["HANDLE_SPELLED"] = key;
    openHandles([secret("HANDLE_SPELLED")]).secret("HANDLE_SPELLED");
    delete process.env["HANDLE_SPELLED"];
    expect(nodePowers.scrub(`(${spell(key)})`)).toMatch(/^[("\\]+\[secret HANDLE_SPELLED\]["\\)]+$/);
  });

  it("takes out the longer one of two values with the same beginning", () => {
    const keys = { HANDLE_KEYS: "shared-beginning", HANDLE_KEYS_LONG: "shared-beginning-and-more" };
    Object.assign(process.env, keys);
    for (const name of Object.keys(keys)) {
      openHandles([secret(name)]).secret(name);
      delete process.env[name];
    }
    expect(nodePowers.scrub("shared-beginning, shared-beginning-and-more, shared-begin")).toBe(
      "[secret HANDLE_KEYS], [secret HANDLE_KEYS_LONG], shared-begin",
    );
  });

  it("takes it out of bytes, whatever stands beside it", () => {
    openHandles([secret("HANDLE_KEY")]).secret("HANDLE_KEY");
    const bytes = Buffer.concat([Buffer.from([0, 255, 195]), Buffer.from(value), Buffer.from([254])]);
    const clean = Buffer.concat([
      Buffer.from([0, 255, 195]),
      Buffer.from("[secret HANDLE_KEY]"),
      Buffer.from([254]),
    ]);
    expect(Buffer.from(scrubBytes(bytes))).toEqual(clean);
    expect(scrubBytes(clean)).toBe(clean);
  });

  it("reads a text that is all signs of spelling in time that grows with its length", () => {
    process.env["HANDLE_SIGNS"] = String.raw`\\&%"%25&amp;/x`;
    openHandles([secret("HANDLE_SIGNS")]).secret("HANDLE_SIGNS");
    delete process.env["HANDLE_SIGNS"];
    for (const sign of ["\\", "%25", "&amp;", "&", String.raw`\\&%"`, "\n", "QQ\n"]) {
      const scrubbed = (length: number): void => {
        const text = sign.repeat(length / sign.length);
        expect(nodePowers.scrub(text)).toBe(text);
      };
      expect(growth(6_000, scrubbed), sign).toBeLessThan(5);
    }
  });

  it("leaves at most the letters beside it, whatever stands around it in base64", () => {
    openHandles([secret("HANDLE_HEADER")]).secret("HANDLE_HEADER");
    for (let before = 0; before < 9; before += 1)
      for (let after = 0; after < 4; after += 1) {
        const text = Buffer.from(`${"x".repeat(before)}tok/en+1${"y".repeat(after)}`).toString("base64");
        expect(nodePowers.scrub(text)).toContain("[secret HANDLE_HEADER]");
      }
  });

  it("leaves everything else as it is, and is quick", () => {
    const text = "nothing of that kind ".repeat(50_000);
    expect(nodePowers.scrub(text)).toBe(text);
    expect(cpuMs(500, () => nodePowers.scrub(text))).toBeLessThan(500);
    expect(nodePowers.scrub("[secret HANDLE_KEY] tok/en")).toBe("[secret HANDLE_KEY] tok/en");
  });
});
