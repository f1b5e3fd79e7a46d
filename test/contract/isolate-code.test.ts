import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { codeTool, type CodeToolDefinition, enforcement } from "../../src/adapters/isolate/isolate.ts";
import type { GivenHandles } from "../../src/adapters/isolate/broker.ts";
import type { Json } from "../../src/util/json.ts";
import { contextOf, need } from "./isolate-context.ts";

async function run(
  code: string,
  definition: CodeToolDefinition = {},
  handles: GivenHandles = {},
): Promise<unknown> {
  const made = await codeTool(definition);
  return made.execute({ code }, contextOf(handles));
}

/** The tool of most tests: it is made once, so that its process is too. */
const functions = {
  add: (a: Json, b: Json) => Number(a) + Number(b),
  later: async (value: Json) => value,
  fails: () => {
    throw new Error("out of stock");
  },
  gives: () => () => 1,
};
const bounds = { functions, memoryBytes: 20_000_000, resultChars: 1_000 };
const shared = await codeTool({ ...bounds, timeoutMs: 15_000 });
const hurried = await codeTool({ ...bounds, timeoutMs: 500 });

async function outcome(code: string, made = shared): Promise<unknown> {
  try {
    return await made.execute({ code, input: { n: 4 } }, contextOf());
  } catch (error) {
    return `failed: ${(error as Error).message}`;
  }
}

describe("code that a model writes", () => {
  it("has no names for what Node can do", async () => {
    const [, quickjs] = await enforcement();
    expect(quickjs).toMatchObject({ level: "isolated", mechanism: "quickjs" });
    expect(quickjs?.probes.filter(({ held }) => !held)).toEqual([]);
    expect(quickjs?.probes.length).toBeGreaterThan(12);
    expect(shared.enforcement?.()?.level).toBe("isolated");
    expect(await outcome("Object.keys(globalThis)")).toEqual(["add", "later", "fails", "gives", "input"]);
  });

  it.each([
    ["1 + 1;", 2],
    ["input.n * 2", 8],
    ["{ a: [1, null] }", { a: [1, null] }],
    ["const x = 2;\nx * 3", 6],
    ["const x = await add(1, 2);\nreturn x * 2;", 6],
    ["const x = await add(1, 2);\nx * 2;", 6],
    ["let sum = 0;\nfor (const n of [1, 2]) sum += await later(n);\nsum", 3],
    ["if (input.n > 3) { await later('big') }", "big"],
    ["async function main() { return await add(1, 1) }\nmain()", 2],
    ["if (input.n > 3) return 'big';\nreturn 'small'", "big"],
    ["// a comment\n3 // another", 3],
    ["await Promise.all([later('a'), add(1, 1)])", ["a", 2]],
    ["add(40, 2)", 42],
    ["try { await fails() } catch (error) { return error.message }", "out of stock"],
    ["function f() { return 5 }\nf()", 5],
    ["let x = 1", null],
    ["12345678901234567890n", "12345678901234567890"],
    ["[undefined, 10n, new Date(0)]", [null, "10", "1970-01-01T00:00:00.000Z"]],
    ["await import('node:fs').catch((error) => error.name)", "ReferenceError"],
    ["add.constructor('return typeof process')()", "undefined"],
  ])("gives its value: %s", async (code, value) => {
    expect(await outcome(code)).toEqual(value);
  });

  it.each([
    ["await new Promise(() => undefined)", "waits for something that never comes"],
    ["const all = []; for (;;) all.push(new Uint8Array(1e5))", "more than 20000000 bytes of memory"],
    ["const all = []; for (;;) all.push({})", "more than 20000000 bytes of memory"],
    ["const all = []; for (;;) all.push('x'.repeat(1e5) + all.length)", "more than 20000000 bytes of memory"],
    ["let o = {}; for (;;) o = { o }", "more than 20000000 bytes of memory"],
    ["'x'.repeat(1e8)", "more than 20000000 bytes of memory"],
    ["(function f() { f() })()", "calls itself too deeply"],
    ["let o = {}; for (let i = 0; i < 1e4; i++) o = { o }; o", "nests too deeply"],
    ["let o = 1; for (let i = 0; i < 100; i++) o = [o]; o", "nested deeper than 64 levels"],
    ["'x'.repeat(2000)", "longer than 1000 characters"],
    ["() => 1", "is a function: it must be JSON"],
    ["Symbol('x')", "is a symbol"],
    ["({ mean: 0 / 0 })", "mean is NaN, which JSON cannot say"],
    ["1 / 0", "the value is Infinity"],
    ["({ seen: new Set([1]) })", "seen is a Map or Set"],
    ["await later([new Map([[1, 2]])])", "0 is a Map or Set"],
    ["const o = {}; o.o = o; o", "circular"],
    ["new Proxy({}, { ownKeys() { throw new Error('trapped') } })", "trapped"],
    ["({ toJSON() { throw 7 } })", "7"],
    ["JSON.parse('{\"__proto__\": 1}')", '"__proto__"'],
    ["throw new Error('mine')", "Error: mine"],
    ["throw { code: 3, toString() { throw 1 } }", '{"code":3}'],
    ["await later(1); throw { toString() { throw 1 } }", "cannot be shown"],
    ["function f() {}", "is a function"],
    ["Promise.prototype.then = () => { throw 'own fault' }; return add(1, 2)", "own fault"],
    ["nonsense here", "SyntaxError"],
    ["fails()", "out of stock"],
    ["gives()", "its result is not JSON: it is a function"],
    ["fetch('https://a.example')", "'fetch' is not defined"],
    ["readText('/etc/passwd')", "'readText' is not defined"],
    ["throw new Error('x'.repeat(1e5))", "xxx"],
  ])("ends with a reason: %s", async (code, reason) => {
    const told = String(await outcome(code));
    expect(told).toContain(reason);
    expect(told.length).toBeLessThan(2_100);
    expect(await outcome("1")).toBe(1);
  });

  it.each(["for (;;);", "await later(1); for (;;);", "/(a+)+$/.test('a'.repeat(60) + '!')"])(
    "ends with its time: %s",
    async (code) => {
      expect(await outcome(code, hurried)).toMatch(/did not end within \d+ ms/);
    },
  );

  it("is ended with its process where the interpreter cannot end it", async () => {
    const endless = run("new Array(4e9).join('').length", { timeoutMs: 2_000 });
    await expect(endless).rejects.toMatchObject({ code: "isolate-failed" });
  });

  it("finds nothing that another piece of code left", async () => {
    await outcome("globalThis.left = Object.prototype.left = 1; JSON.stringify = () => '0'; add.left = 1");
    expect(
      await outcome("[typeof left, ({}).left === undefined, JSON.stringify([1]), add.left === undefined]"),
    ).toEqual(["undefined", true, "[1]", true]);
    expect(({} as { left?: unknown }).left).toBeUndefined();
  });

  it("cannot make more of what it calls by changing its own built-in objects", async () => {
    const code = `Array.prototype.push = Array.prototype.map = null; JSON.parse = () => "forged"; return add(1, 2)`;
    expect(await outcome(code)).toBe(3);
  });

  it("has the declared handles in a form of JSON", async () => {
    const seen: unknown[] = [];
    const fs = {
      readBytes: async (path: string) => Buffer.from(`text of ${path}`),
      list: async () => [{ name: "a", type: "file" }],
      writeText: async (...args: unknown[]) => void seen.push(args),
    } as unknown as GivenHandles["fs"];
    const fetch: GivenHandles["fetch"] = async (url, options) => {
      seen.push([url, options?.method, options?.headers, options?.body]);
      return new Response("got", { status: String(url).endsWith("x") ? 404 : 200 });
    };
    const needs = [
      need("net", "a.example"),
      need("fs.read", "/"),
      need("fs.write", "/"),
      need("env", "A"),
      need("llm"),
    ];
    const given = { fs, fetch, env: () => undefined, llm: async (prompt: string) => prompt.toUpperCase() };
    const definition = { needs, effect: "write" } as const;
    const made = await codeTool(definition);
    expect(made.description).toContain("readText(path): the text of a file\n");
    expect(made.effect).toBe("write");
    const code = `await writeText("/b", "c");
      return [await readText("/a"), await listFolder("/"), await fetchText("https://a.example", { method: "POST", headers: { a: "b" }, body: "d" }), await env("A"), await llm("hi")]`;
    const list = [{ name: "a", type: "file" }];
    expect(await made.execute({ code }, contextOf(given))).toEqual(["text of /a", list, "got", null, "HI"]);
    expect(seen).toEqual([
      ["/b", "c"],
      ["https://a.example", "POST", { a: "b" }, "d"],
    ]);
    await expect(run('fetchText("https://a.example/x")', definition, given)).rejects.toThrow(
      "answered with status 404",
    );
    await expect(run("readText(7)", definition, given)).rejects.toThrow("a text was expected");
    await expect(run('readText("/a")', definition)).rejects.toThrow("this call was given no fs");
  });

  it("calls functions as if they were called by whoever called the tool", async () => {
    const storage = new AsyncLocalStorage<string>();
    const made = await codeTool({ functions: { whose: () => storage.getStore() ?? "nobody's" } });
    const askAs = (name: string): unknown =>
      storage.run(name, () => made.execute({ code: "whose()" }, contextOf()));
    expect(await askAs("first")).toBe("first");
    expect(await askAs("second")).toBe("second"); // in the same process
    expect(await made.execute({ code: "whose()" }, contextOf())).toBe("nobody's");
  });

  it.each<[string, () => unknown, string]>([
    ["a map", () => new Map([["tea", 3]]), "Map"],
    ["a forgotten await", () => ({ price: Promise.resolve(3) }), "a promise inside"],
  ])("is told that a function gave what JSON does not show: %s", async (_what, prices, named) => {
    const made = await codeTool({ functions: { prices } });
    expect(await outcome("await prices()", made)).toMatch(new RegExp(`its result is not JSON: .*${named}`));
  });

  it("computes when it was given nothing, and says no more than that", async () => {
    const made = await codeTool();
    expect(made).toMatchObject({ name: "run_code", effect: "none" });
    expect(await made.execute({ code: "[3, 1, 2].sort()" }, contextOf())).toEqual([1, 2, 3]);
    expect((await codeTool({ functions })).effect).toBe("undeclared");
  });

  it("has each of its own objects whatever functions it is given, and names of functions that say something to others", async () => {
    const bare = await codeTool();
    const own = await bare.execute({ code: "Object.getOwnPropertyNames(globalThis)" }, contextOf());
    const names = (own as readonly string[]).filter((name) => /^[A-Za-z]/.test(name));
    expect(names).toContain("Promise");
    for (const name of names)
      await expect(codeTool({ functions: { [name]: () => 1 } })).rejects.toMatchObject({
        code: "definition-invalid",
      });
    const of = await codeTool({ functions: { of: () => 7, fetch: () => 8, setTimeout: () => 9 } });
    const code = "[await of(1), await fetch(1), await setTimeout(1)]";
    expect(await of.execute({ code }, contextOf())).toEqual([7, 8, 9]);
  });

  it.each([
    [{ functions: { "a b": () => 1 } }, '"a b" cannot be the name'],
    [{ functions: { input: () => 1 } }, '"input" cannot be the name'],
    [{ functions: { readText: () => 1 }, needs: [need("fs.read", "/")] }, '"readText" cannot be the name'],
    [{ functions: { delete: () => 1 } }, '"delete" cannot be the name'],
    [{ functions: { await: () => 1 } }, '"await" cannot be the name'],
    [{ functions: { NaN: () => 1 } }, '"NaN" cannot be the name'],
    [{ functions: { price: () => 1, Object: () => 1 } }, '"Object" cannot be the name'],
    [{ functions: { JSON: () => 1 } }, '"JSON" cannot be the name'],
    [{ needs: [need("secret", "KEY")] }, "no `secret`"],
    [{ timeoutMs: 0 }, "`timeoutMs` must be a positive number"],
    [{ memoryBytes: NaN }, "`memoryBytes` must be a positive number"],
    [{ memoryBytes: 1_000_000 }, "`memoryBytes` must be at least 17000000"],
  ])("is not defined by mistake: %j", async (definition, reason) => {
    await expect(codeTool(definition)).rejects.toThrow(reason);
  });
});
