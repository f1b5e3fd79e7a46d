import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fs } from "../../../../src/index.ts";
import { eachLine } from "../../../../src/adapters/workspace/lines.ts";
import { fileTools, type FileToolsOptions } from "../../../../src/workspace.ts";
import { cpuMsUntil } from "../../../cpu-time.ts";
import { callerOf, newFolder } from "./tools.ts";

let root: string;
beforeEach(() => {
  root = newFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, content: string | Buffer): void => {
  mkdirSync(join(root, name, ".."), { recursive: true });
  writeFileSync(join(root, name), content);
};
const content = (name: string): string => readFileSync(join(root, name), "utf8");
const call = (name: string, args: object = {}, options: Partial<FileToolsOptions> = {}): Promise<string> =>
  callerOf(fileTools({ root, write: true, ...options }), [fs.read(root), fs.write(root)])(name, { ...args });
const lines = (count: number): string =>
  Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");

describe("file tools at their edges", () => {
  it("change no text that stands twice, where the second time begins in the first", async () => {
    write("a.js", "}\n}\n}\n");
    const edit = { path: "a.js", old: "}\n}", new: "X" };
    expect(await call("edit_file", edit)).toContain('The text stands 2 times in "a.js": in the lines 1, 2.');
    expect(content("a.js")).toBe("}\n}\n}\n");
    expect(await call("edit_file", { ...edit, all: true })).toBe("ok: Replaced it in line 1 of a.js.");
    expect(content("a.js")).toBe("X\n}\n");
  });

  it("show no more of a folder than a result may have", async () => {
    for (let at = 0; at < 30; at += 1) write(`${"n".repeat(100)}${at}`, "");
    const listed = await call("list_files", {}, { outputChars: 1000 });
    expect(listed.length).toBeLessThan(1100);
    expect(listed).toMatch(/\[21 more; go on with offset 9\]$/);
  });

  it("say that a search did not look at the whole of a line", async () => {
    write("one-line.json", JSON.stringify({ text: "x".repeat(150_000), needle: 1 }));
    expect(await call("search_files", { text: "needle" })).toBe(
      "ok: [nothing was found; of 1 very long line only the first 100000 bytes were looked at]",
    );
    expect(await call("search_files", { text: "text" })).not.toContain("very long");
  });

  it("write into a folder whose name begins with two dots", async () => {
    expect(await call("write_file", { path: "..cache/a.txt", content: "x" })).toContain(
      "ok: Wrote ..cache/a.txt",
    );
  });

  it("refuse names to skip that are no list", () => {
    expect(() => fileTools({ root, skip: "dist" as never })).toThrow("`skip` must be a list of names");
  });
});

describe("read_file [C38]", () => {
  it("gives lines with their numbers, and says how to read on", async () => {
    write("a.txt", lines(10));
    expect(await call("read_file", { path: "a.txt", limit: 2 })).toBe(
      "ok: 1\tline 1\n2\tline 2\n[lines 1 to 2 of 10; read on with offset 3]",
    );
    expect(await call("read_file", { path: "./a.txt", offset: 9 })).toBe(
      "ok: 9\tline 9\n10\tline 10\n[lines 9 to 10 of 10: the end of the file]",
    );
    expect(await call("read_file", { path: join(root, "a.txt"), offset: 10, limit: 1 })).toBe(
      "ok: 10\tline 10\n[lines 10 to 10 of 10: the end of the file]",
    );
    expect(await call("read_file", { path: "a.txt", offset: 11 })).toContain(
      `error: Tool 'read_file' failed: "a.txt" has 10 lines: there is no line 11.`,
    );
    expect(await call("read_file", { path: "a.txt", offset: 0 })).toMatch(/^invalid/);
  });

  it("cuts a result at a line, a long line in itself, and no letter in two", async () => {
    write("many.txt", lines(1000));
    const cut = await call("read_file", { path: "many.txt", limit: 1000 }, { outputChars: 100 });
    expect(cut).toMatch(/\n10\tline 10\n\[lines 1 to 10 of 1000; read on with offset 11\]$/);
    write("long.txt", `${"🙂".repeat(5000)}\nshort\n`);
    const long = await call("read_file", { path: "long.txt" }, { outputChars: 100 });
    expect(long).toMatch(
      /^ok: 1\t(?:🙂){1000}… \[16,000 more bytes in this line\]\n\[lines 1 to 1 of 2; read on with offset 2\]$/u,
    );
  });

  it("reads lines of a file of any size, and a line that is larger than memory should be", async () => {
    write("huge.log", `first\n${"x".repeat(3_000_000)}\nthird\n`);
    truncateSync(join(root, "huge.log"), 3_000_000_000); // the rest is a hole
    expect(await call("read_file", { path: "huge.log", limit: 1 })).toMatch(
      /^ok: 1\tfirst\n\[lines 1 to 1; about 2,99\d,\d{3},\d{3} bytes more; read on with offset 2\]$/,
    );
    expect(await call("read_file", { path: "huge.log", offset: 2, limit: 2 })).toMatch(
      /^ok: 2\tx{2000}… \[2,998,000 more bytes in this line\]\n3\tthird\n\[lines 2 to 3; about/,
    );
  });

  it("keeps of a line that has no end no more than is shown", async () => {
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const readBytes = async (): Promise<Uint8Array<ArrayBuffer>> => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      return new Uint8Array(1_000_000).fill(120);
    };
    const long: number[] = [];
    await eachLine({ path: "one-line.json", bytes: 800_000_000, fs: { readBytes } }, ({ leftOut }) => {
      long.push(leftOut);
      return true;
    });
    expect(long).toEqual([799_900_000]);
    expect(most).toBeLessThan(400_000_000);
  });

  it("names what is binary, empty or no UTF-8", async () => {
    write("logo.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13]));
    write("empty", "");
    write("latin", Buffer.from("caf\xe9\n", "latin1"));
    write("windows.txt", "\ufeffone\r\ntwo\r\n");
    expect(await call("read_file", { path: "logo.png" })).toBe(
      "ok: [logo.png is a binary file of 8 bytes: it has no lines to read]",
    );
    expect(await call("read_file", { path: "empty" })).toBe("ok: [empty is empty]");
    expect(await call("read_file", { path: "latin" })).toMatch(/1\tcaf\ufffd\n.*\n\[the file is not UTF-8/);
    expect(await call("read_file", { path: "windows.txt" })).toMatch(/^ok: 1\tone\n2\ttwo\n/);
  });

  it("says what was meant by a path that leads nowhere", async () => {
    write("src/index.ts", "x");
    expect(await call("read_file", { path: "src/indx.ts" })).toContain(
      'There is no "src/indx.ts"; did you mean "src/index.ts"?',
    );
    expect(await call("read_file", { path: "src/other" })).toContain('There is no "src/other"; find_files');
    expect(await call("read_file", { path: "lib/a.ts" })).toContain(
      'There is no "lib/a.ts", and no folder "lib"',
    );
    expect(await call("read_file", { path: "src" })).toContain('"src" is a folder; list_files');
    symlinkSync("gone.ts", join(root, "src/link.ts"));
    expect(await call("read_file", { path: "src/link.ts" })).toContain(
      'There is no "src/link.ts": it is a link that leads nowhere.',
    );
  });
});

describe("list_files [C38]", () => {
  it("shows names with sizes, page by page", async () => {
    expect(await call("list_files")).toBe("ok: [the folder is empty]");
    write("b.txt", "12345");
    write("sub/c", "");
    expect(await call("list_files")).toBe("ok: b.txt (5)\nsub/\n[2 names in all]");
    expect(await call("list_files", { path: "sub/" })).toBe("ok: c (0)\n[1 name in all]");
    expect(await call("list_files", { path: "b.txt" })).toContain("is no folder; read_file reads files");
    expect(await call("list_files", { path: "subb" })).toContain('did you mean "sub"?');
    for (let at = 100; at < 350; at += 1) write(`many/${at}`, "");
    expect(await call("list_files", { path: "many" })).toMatch(
      /299 \(0\)\n\[50 more; go on with offset 200\]$/,
    );
    expect(await call("list_files", { path: "many", offset: 200 })).toMatch(
      /^ok: 300 \(0\)\n[^]*\n\[250 names in all\]$/,
    );
  });
});

describe("find_files [C38]", () => {
  beforeEach(() => {
    for (const name of [
      "a.ts",
      "src/b.ts",
      "src/deep/c.test.ts",
      "src/d.js",
      "node_modules/x/e.ts",
      "src/[x].md",
    ])
      write(name, "");
  });
  const found = async (glob: string, more: object = {}): Promise<string> =>
    (await call("find_files", { glob, ...more })).replaceAll("\n", " ");

  it.each([
    ["*.ts", "a.ts src/b.ts src/deep/c.test.ts"],
    ["src/*.ts", "src/b.ts"],
    ["./src/**/*.ts", "src/b.ts src/deep/c.test.ts"],
    ["./*.ts", "a.ts"],
    ["src/", "src/"],
    ["**/deep/", "src/deep/"],
    ["**/*.{js,test.ts}", "src/d.js src/deep/c.test.ts".split(" ").toSorted().join(" ")],
    ["[ab].ts", "a.ts src/b.ts"],
    ["[!a].ts", "src/b.ts"],
    ["?.js", "src/d.js"],
    ["de*", "src/deep/"],
    ["src/**", "src/[x].md src/b.ts src/d.js src/deep/ src/deep/c.test.ts"],
    [String.raw`\[x\].md`, "src/[x].md"],
    ["*.{ts", "a.ts src/b.ts src/deep/c.test.ts"],
    ["a.ts}", ""],
    ["x,b.ts", ""],
    ["A.TS", ""],
  ])("%s", async (glob, names) => {
    const text = await found(glob);
    expect(
      text
        .replace(/ ?\[[^[]*\]$/, "")
        .split(" ")
        .slice(1)
        .toSorted(),
    ).toEqual(
      names
        .split(" ")
        .filter((name) => name !== "")
        .toSorted(),
    );
    expect(text).toContain("not looked into: node_modules");
  });

  it("goes into what it is told to, and tells pages", async () => {
    expect(await found("*.ts", { path: "node_modules" })).toBe("ok: node_modules/x/e.ts [1 find in all]");
    expect(await found("*", { path: "src/deep", offset: 5 })).toBe("ok: [nothing after find 1]");
    expect(await found("nothing")).toBe("ok: [nothing was found; not looked into: node_modules]");
    expect(await found("*", { path: "nowhere" })).toContain(
      "error: Tool 'find_files' failed: \"nowhere\": there is nothing there",
    );
    for (let at = 100; at < 350; at += 1) write(`many/${at}`, "");
    expect(await found("*", { path: "many" })).toContain(
      "299 [finds 1 to 200, and there are more; go on with offset 200]",
    );
    expect(await found("*", { path: "many", offset: 200 })).toMatch(
      /^ok: many\/300 .*349 \[250 finds in all\]$/,
    );
  });

  it("counts a glob with a slash from the folder that it is told to go into, too", async () => {
    for (const glob of ["deep/*.ts", "src/deep/*.ts", "**/*.ts", "./*/*.ts"])
      expect(await found(glob, { path: "src" })).toMatch(/^ok: (?:src\/b.ts )?src\/deep\/c.test.ts \[/);
    expect(await found("./*.ts", { path: "src" })).toBe("ok: src/b.ts [1 find in all]");
    expect(await found(`${root}/src/*.ts`)).toContain("ok: src/b.ts [1 find in all");
    expect(await found(`${root}/*.ts`, { path: "src" })).toContain("nothing was found"); // it would be above
    write("src/deep/tea.md", "tea");
    expect(await call("search_files", { text: "tea", path: "src", glob: "deep/*" })).toBe(
      "ok: src/deep/tea.md:1: tea\n[1 find in all]",
    );
  });

  it("takes linear time for any glob", async () => {
    write("a".repeat(200), "");
    const find = async (): Promise<void> =>
      expect(await found(`${"*a".repeat(100)}*b`)).toContain("nothing was found");
    expect(await cpuMsUntil(2_000, find)).toBeLessThan(2_000);
  });
});

describe("search_files [C38]", () => {
  beforeEach(() => {
    write("src/a.ts", "const tea = 1;\n  drink(TEA);\n");
    write("notes.md", "no coffee\ntea (green)\n");
    write("image", Buffer.from("tea\0"));
    write(".git/x", "tea");
  });
  const search = (args: object): Promise<string> => call("search_files", args);

  it("finds a text, with path and line", async () => {
    expect(await search({ text: "tea" })).toBe(
      "ok: notes.md:2: tea (green)\nsrc/a.ts:1: const tea = 1;\n[2 finds in all; 1 binary file passed over; not looked into: .git]",
    );
    expect(await search({ text: "tea", ignoreCase: true, glob: "*.ts" })).toMatch(
      /^ok: src\/a.ts:1: const tea = 1;\nsrc\/a.ts:2: drink\(TEA\);\n\[2 finds in all/,
    );
    expect(await search({ text: "(green)", path: "notes.md" })).toBe(
      "ok: notes.md:2: tea (green)\n[1 find in all]",
    );
    expect(await search({ text: "milk" })).toMatch(/^ok: \[nothing was found/);
    expect(await search({ text: "tea", path: "nots.md" })).toContain('did you mean "notes.md"?');
    expect(await search({ text: "a\nb" })).toContain("single lines");
  });

  it("finds a pattern in linear time, and says what is wrong with one", async () => {
    expect(await search({ text: "^(const|let) \\w+ =", pattern: true })).toContain("src/a.ts:1:");
    expect(await search({ text: "^CONST", pattern: true, ignoreCase: true })).toContain("src/a.ts:1:");
    expect(await search({ text: "(", pattern: true })).toMatch(/error.*is no regular expression/);
    expect(await search({ text: String.raw`(a)\1`, pattern: true })).toMatch(/error.*back-reference/);
    expect(await search({ text: "a".repeat(1001), pattern: true })).toContain("more than 1000 characters");
    write("evil", `${"a".repeat(90_000)}\n`);
    const look = (): Promise<string> => search({ text: "(a+)+$b", pattern: true });
    expect(await cpuMsUntil(5_000, look)).toBeLessThan(5_000);
  });

  it("shows of a long line what is around the find, and goes on page by page", async () => {
    write("min.js", `${"x".repeat(60_000)}needle${"y".repeat(60_000)}`);
    const long = await search({ text: "needle", path: "min.js" });
    expect(long).toMatch(/^ok: min.js:1: …x{200}needley{194}…\n/);
    write("many.txt", lines(500));
    expect(await search({ text: "line", path: "many.txt", offset: 200 })).toMatch(
      /^ok: many.txt:201: line 201\n[^]*:400: line 400\n\[finds 201 to 400, and there are more; go on with offset 400\]$/,
    );
    expect(await search({ text: "line", path: "many.txt", offset: 400 })).toMatch(/\[500 finds in all\]$/);
  });

  it("passes over what it may not read", async () => {
    const grants = [fs.read(join(root, "src"))];
    const narrow = callerOf(fileTools({ root }), [...grants]);
    expect(await narrow("search_files", { text: "tea" })).toMatch(/^denied/);
    expect(await narrow("search_files", { text: "tea", path: "src" })).toContain("src/a.ts:1:");
  });
});

describe("write_file [C38]", () => {
  it("writes a new file with the folders above it", async () => {
    expect(await call("write_file", { path: "a/b/c.txt", content: "é\ntwo" })).toBe(
      "ok: Wrote a/b/c.txt: 2 lines, 6 bytes, a new file.",
    );
    expect(content("a/b/c.txt")).toBe("é\ntwo");
    expect(await call("write_file", { path: "x/../y.txt", content: "" })).toContain("Wrote y.txt: 0 lines");
    expect(statSync(join(root, "x"), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("replaces nothing that it was not told to, and may be repeated", async () => {
    write("a.txt", "old");
    expect(await call("write_file", { path: "a.txt", content: "new" })).toMatch(
      /^error: .*"a.txt" is there already, with 3 bytes\. It was not changed: .*"replace": true/,
    );
    expect(content("a.txt")).toBe("old");
    expect(await call("write_file", { path: "a.txt", content: "old" })).toBe(
      "ok: a.txt has this content already: nothing was changed.",
    );
    expect(await call("write_file", { path: "a.txt", content: "new!\n", replace: true })).toBe(
      "ok: Wrote a.txt: 1 line, 5 bytes, in the place of 3 bytes.",
    );
    expect(await call("write_file", { path: ".", content: "x" })).toContain('"." is no file');
  });
});

describe("edit_file [C38]", () => {
  it("replaces a text that stands once", async () => {
    write("a.txt", "one\ntwo\nthree $& \n");
    expect(await call("edit_file", { path: "a.txt", old: "two", new: "$& $1 2" })).toBe(
      "ok: Replaced it in line 2 of a.txt.",
    );
    expect(content("a.txt")).toBe("one\n$& $1 2\nthree $& \n");
  });

  it("changes nothing where the text is not there once, and says what helps", async () => {
    write("a.txt", "x = 1;\n  y = 2;\nx = 1;\nx = 1;\n");
    const before = content("a.txt");
    const edit = (old: string, more: object = {}): Promise<string> =>
      call("edit_file", { path: "a.txt", old, new: "z", ...more });
    expect(await edit("x = 1;")).toContain(
      'The text stands 3 times in "a.txt": in the lines 1, 3, 4. Give more of what is around it, so that it stands there once, or set "all": true.',
    );
    expect(await edit("nothing")).toContain('does not stand in "a.txt": read the file');
    expect(await edit("y  =  2;\nx = 1;")).toContain("exactly so: in line 2 it stands with other spaces");
    expect(await edit("z")).toContain("nothing would change");
    expect(await edit("")).toMatch(/^invalid/);
    expect(content("a.txt")).toBe(before);
    expect(await edit("x = 1;", { all: true })).toBe("ok: Replaced it in 3 places of a.txt.");
    expect(content("a.txt")).toBe("z\n  y = 2;\nz\nz\n");
  });

  it("keeps the line breaks of the file", async () => {
    write("win.txt", "one\r\ntwo\r\nthree\r\n");
    await call("edit_file", { path: "win.txt", old: "one\ntwo", new: "1\n2" });
    expect(content("win.txt")).toBe("1\r\n2\r\nthree\r\n");
  });

  it("keeps the line breaks of each place where a file has both", async () => {
    const edited = async (
      before: string,
      args: { readonly old: string; readonly new: string; all?: boolean },
    ) => {
      write("mixed.txt", before);
      const told = await call("edit_file", { path: "mixed.txt", ...args });
      return told.startsWith("ok: ") ? content("mixed.txt") : told;
    };
    expect(await edited("one\r\ntwo\n", { old: "one", new: "1" })).toBe("1\r\ntwo\n");
    expect(await edited("one\r\ntwo\nthree\n", { old: "one\ntwo", new: "1\n2" })).toBe("1\r\n2\nthree\n");
    expect(await edited("one\r\ntwo\nthree\n", { old: "two\r\nthree", new: "2\n3" })).toBe("one\r\n2\n3\n");
    expect(await edited("a\r\na\na", { old: "a", new: "b\nc", all: true })).toBe("b\r\nc\r\nb\nc\nb\nc");
    expect(await edited("a\nb\r\na\r\nb\n", { old: "a\nb", new: "x", all: true })).toBe("x\r\nx\n");
    expect(await edited("a\nb\r\na\r\nb\n", { old: "a\nb", new: "x" })).toContain("stands 2 times");
    expect(await edited("$& (.) \\\n", { old: "$& (.) \\", new: "$& $1" })).toBe("$& $1\n");
  });

  it("breaks no file that is not UTF-8, and none that somebody else changes meanwhile", async () => {
    const latin = Buffer.from("caf\xe9 tea", "latin1");
    write("latin", latin);
    write("bin", Buffer.from("tea\0"));
    for (const path of ["latin", "bin"])
      expect(await call("edit_file", { path, old: "tea", new: "x" })).toContain("is no text in UTF-8");
    expect(readFileSync(join(root, "latin"))).toEqual(latin);
    write("large", "x".repeat(10_000_001));
    expect(await call("edit_file", { path: "large", old: "tea", new: "x" })).toContain("too large to edit");
  });
});

describe("a file that calls of several runs change at once", () => {
  it("has each of their edits, and is new to one of them alone", async () => {
    write("list", "abcdefgh");
    const edits = Array.from("abcdefgh", (letter) =>
      call("edit_file", { path: "list", old: letter, new: letter.toUpperCase() }),
    );
    for (const edited of await Promise.all(edits)) expect(edited).toBe("ok: Replaced it in line 1 of list.");
    expect(content("list")).toBe("ABCDEFGH");

    const writes = Array.from("abcdefgh", (letter) => call("write_file", { path: "new", content: letter }));
    const written = await Promise.all(writes);
    expect(written.filter((said) => said.startsWith("ok: Wrote new"))).toHaveLength(1);
    expect(written.filter((said) => said.includes('"new" is there already'))).toHaveLength(7);
  });
});

describe("a file that somebody else changes [C38]", () => {
  it("is not overwritten by an edit of what it was", async () => {
    const edit = fileTools({ root, write: true }).find(({ name }) => name === "edit_file");
    const written: string[] = [];
    let looks = 0;
    const files = {
      stat: async () => ({ type: "file", bytes: 3, modifiedMs: (looks += 1) }),
      readBytes: async () => Buffer.from("tea"),
      writeText: async (path: string) => void written.push(path),
    };
    const editing = async () => edit?.execute({ path: "a", old: "tea", new: "x" }, { fs: files } as never);
    await expect(editing()).rejects.toThrow('"a" was changed by somebody else just now. Read it again.');
    expect(written).toEqual([]);
  });
});

describe("file tools", () => {
  it("declare what they do, and write only where they are told to", () => {
    const about = (write: boolean) =>
      fileTools({ root, write }).map(({ name, effect, needs = [] }) => [
        name,
        effect,
        needs.map(({ kind }) => kind).join(),
      ]);
    const reading = ["read_file", "list_files", "find_files", "search_files"].map((name) => [
      name,
      "read",
      "fs.read",
    ]);
    expect(about(false)).toEqual(reading);
    expect(about(true)).toEqual([
      ...reading,
      ["write_file", "write", "fs.read,fs.write"],
      ["edit_file", "write", "fs.read,fs.write"],
    ]);
    expect(fileTools({ root }).map(({ trusted }) => trusted)).toEqual([false, false, false, false]);
    expect(fileTools({ root, trusted: true }).every(({ trusted }) => trusted)).toBe(true);
  });

  it("are refused without a folder or with bounds that are none", () => {
    expect(() => fileTools({ root: "relative" })).toThrow("must be absolute");
    for (const bad of [{ outputChars: 0 }, { timeMs: Number.NaN }, { outputChars: -1 }])
      expect(() => fileTools({ root, ...bad })).toThrow("must be a number from 1 on");
  });

  it("are refused for a file, and for a folder that is not there", () => {
    const file = join(root, "folder.txt");
    writeFileSync(file, "");
    const says = (path: string, there: string) =>
      `fileTools(): \`root\` must be a folder, and ${there} is there: ${JSON.stringify(path)}.`;
    for (const write of [false, true]) {
      expect(() => fileTools({ root: file, write })).toThrow(says(file, "no folder"));
      expect(() => fileTools({ root: join(root, "later"), write })).toThrow(
        says(join(root, "later"), "nothing"),
      );
    }
  });
});
