import { execFile } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { processOutput } from "../../../src/cli/output.ts";
import { makeToken, readPrincipals } from "../../../src/cli/tokens.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-tokens-"));
  vi.spyOn(processOutput, "answer").mockReturnValue(undefined);
  vi.spyOn(processOutput, "progress").mockReturnValue(undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const names = (path: string): readonly string[] => readPrincipals(path).map(({ name }) => name);

describe("the file of `writ token`", () => {
  it("may begin with a byte order mark, as some editors write it, but not be UTF-16", () => {
    const path = join(folder, "marked.json");
    const text = '\ufeff{\r\n"principals": []\r\n}\r\n';
    writeFileSync(path, text);
    expect(readPrincipals(path)).toEqual([]);
    writeFileSync(path, text, "utf16le");
    expect(() => readPrincipals(path)).toThrow("it is UTF-16");
    rmSync(path);
  });

  it("is put in the place of the one before, whole, so that no crash leaves half of it", async () => {
    const path = join(folder, "tokens.json");
    await makeToken("web", { tokens: path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const before = join(folder, "before.json");
    linkSync(path, before);
    const text = readFileSync(before, "utf8");
    chmodSync(path, 0o640); // the server is of the group
    await makeToken("app", { tokens: path });
    expect(readFileSync(before, "utf8")).toBe(text); // nothing was written into it
    expect(names(path)).toEqual(["web", "app"]);
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).toSorted()).toEqual(["before.json", "tokens.json"]);
  });

  it("is not made for a name that nobody can have", async () => {
    await expect(makeToken("a/b", { tokens: join(folder, "none.json") })).rejects.toMatchObject({
      code: "option-invalid",
      hint: expect.stringMatching(/without `\/` and spaces.*[^.]\.$/),
    });
  });

  it("stays where a link to it says", async () => {
    const [path, link] = [join(folder, "kept.json"), join(folder, "link.json")];
    await makeToken("web", { tokens: path });
    symlinkSync(path, link);
    await makeToken("app", { tokens: link });
    expect(names(path)).toEqual(["web", "app"]);
  });

  it.each(["file", "folder"])("is written though one that was killed left its %s there", async (kind) => {
    const path = join(folder, `left-${kind}.json`);
    await makeToken("web", { tokens: path });
    const left = `${path}.part`;
    if (kind === "file") writeFileSync(left, '{"principals":');
    else {
      mkdirSync(left);
      writeFileSync(join(left, "half"), '{"principals":');
    }
    const then = Date.now() / 1000 - 4.5;
    utimesSync(left, then, then);
    await makeToken("app", { tokens: path }); // once nobody can be at work there any more
    expect(names(path)).toEqual(["web", "app"]);
    expect(readdirSync(folder).filter((name) => name.startsWith(`left-${kind}`))).toEqual([
      `left-${kind}.json`,
    ]);
  });

  it("waits for another one that writes it now", async () => {
    const path = join(folder, "waits.json");
    await makeToken("web", { tokens: path });
    mkdirSync(`${path}.part`);
    const made = makeToken("app", { tokens: path });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(names(path)).toEqual(["web"]);
    rmSync(`${path}.part`, { recursive: true });
    await made;
    expect(names(path)).toEqual(["web", "app"]);
  });

  it("loses nobody where several processes write it at once", async () => {
    const path = join(folder, "together.json");
    const code = `
      const { makeToken } = await import(${JSON.stringify(new URL("../../../src/cli/tokens.ts", import.meta.url).href)});
      for (let count = 0; count < 10; count += 1) await makeToken("p" + process.pid + "-" + count, { tokens: process.argv[1] });`;
    const program = promisify(execFile);
    const one = () => program(process.execPath, ["--input-type=module", "--eval", code, path]);
    await Promise.all([one(), one(), one()]);
    expect(names(path)).toHaveLength(30);
    expect(readdirSync(folder).filter((name) => name.startsWith("together"))).toEqual(["together.json"]);
  }, 60_000);
});
