import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAgent, loadAgent } from "../../../src/cli/load-agent.ts";
import { placeInCode } from "../../../src/cli/place-in-code.ts";
import { agent } from "../../../src/index.ts";

let folder = "";
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "writ-load-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** What any copy of the package would make. */
const made = (name: string): string =>
  `Object.defineProperty(Object.assign(() => {}, { run() {}, stream() {} }), "name", { value: "${name}" })`;

describe("loadAgent", () => {
  it("takes the default export before all others", async () => {
    const path = file("default.mjs", `export const a = ${made("a")}; export default ${made("b")};`);
    expect((await loadAgent(path)).name).toBe("b");
  });

  it("takes the only agent among the exports, also under two names", async () => {
    const path = file(
      "only.mjs",
      `export const other = 1; export const a = ${made("a")}; export { a as same }; export default { not: "one" };`,
    );
    expect((await loadAgent(path)).name).toBe("a");
  });

  it("says which agents there are when there are several", async () => {
    const path = file("several.mjs", `export const a = ${made("a")}; export const b = ${made("b")};`);
    await expect(loadAgent(path)).rejects.toMatchObject({ code: "agent-ambiguous", data: { found: "a, b" } });
  });

  it("says what is exported when nothing is an agent", async () => {
    await expect(loadAgent(file("none.mjs", "export const tools = [], x = () => 1;"))).rejects.toMatchObject({
      code: "agent-missing",
      data: { found: "tools, x" },
    });
    await expect(loadAgent(file("empty.mjs", ""))).rejects.toMatchObject({
      code: "agent-missing",
      data: { found: "nothing" },
    });
  });

  it("tells a missing file and a folder from a broken file", async () => {
    await expect(loadAgent(join(folder, "nowhere.ts"))).rejects.toMatchObject({ code: "file-missing" });
    await expect(loadAgent(folder)).rejects.toMatchObject({
      code: "file-missing",
      message: `There is no file "${folder}": it is a folder.`,
    });
  });

  it("keeps the first line and the place of what a file throws, with the error as cause [Y25]", async () => {
    const path = file("throws.mjs", '\n\nthrow new TypeError("kaput\\nmore");');
    const error: unknown = await loadAgent(path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "agent-file-broken",
      cause: expect.objectContaining({ name: "TypeError" }),
    });
    expect((error as Error).message).toBe(`${path} cannot be loaded: kaput (${path}:3:7)`);
  });

  it("copes with a file that throws no error", async () => {
    await expect(loadAgent(file("text.mjs", 'throw "a text";'))).rejects.toMatchObject({
      code: "agent-file-broken",
      data: { reason: "a text" },
    });
  });
});

describe("isAgent", () => {
  it("knows an agent of this copy, and nothing else", () => {
    expect(isAgent(agent({ name: "echo", model: () => "ok" }))).toBe(true);
    for (const value of [undefined, null, "agent", {}, () => 1, { name: "x", run() {}, stream() {} }])
      expect(isAgent(value)).toBe(false);
  });
});

describe("placeInCode", () => {
  const withStack = (stack: string): Error => Object.assign(new Error("x"), { stack });

  it("skips Node, packages and writ itself", () => {
    const writ = join(import.meta.dirname, "../../../dist/agent/plan.js");
    const stack = [
      "Error: x",
      `    at planAgent (file://${writ}:7:9)`,
      "    at node:internal/modules/esm/loader:706:20",
      "    at parse (/home/me/node_modules/zod/index.js:1:2)",
      "    at make (file:///home/me/a%20b/agent.ts:12:5)",
    ];
    expect(placeInCode(withStack(stack.join("\n")))).toBe("/home/me/a b/agent.ts:12:5");
  });

  it.each([
    ["a module", "    at file:///home/me/Dropbox%20(Personal)/agent.ts:12:5"],
    ["a function of a module", "    at make (file:///home/me/Dropbox%20(Personal)/agent.ts:12:5)"],
    ["a function of a script", "    at make (/home/me/Dropbox (Personal)/agent.ts:12:5)"],
    [
      "code made of text",
      "    at eval (eval at x (file:///home/me/Dropbox%20(Personal)/agent.ts:12:5), <anonymous>:1:1)",
    ],
  ])("reads a path with brackets: %s", (_what, frame) => {
    expect(placeInCode(withStack(`Error: x\n${frame}`))).toBe("/home/me/Dropbox (Personal)/agent.ts:12:5");
  });

  it("reads the head that Node puts before a syntax error", () => {
    expect(
      placeInCode(
        withStack(
          "file:///home/me/agent.ts:2\nconst = 3;\n      ^\nSyntaxError: x\n    at node:internal/a/b:1:2",
        ),
      ),
    ).toBe("/home/me/agent.ts:2");
  });

  it("shortens paths under the current folder", () => {
    const path = join(process.cwd(), "agents/one.ts");
    expect(placeInCode(withStack(`Error: x\n    at ${path}:3:4`))).toBe(
      `${relative(process.cwd(), path)}:3:4`,
    );
  });

  it("gives nothing when the stack has no place of the user, or there is no stack", () => {
    expect(placeInCode(withStack("Error: x\n    at node:internal/a/b:1:2"))).toBeUndefined();
    expect(placeInCode(Object.assign(new Error("x"), { stack: undefined }))).toBeUndefined();
    expect(placeInCode("text")).toBeUndefined();
  });
});
