import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { catalogue } from "../src/error/codes.ts";
import { keptFunctions } from "../tools/kept-functions.ts";
import { cycles, layerComplaints } from "../tools/layers.ts";
import { formerNameComplaints, nameComplaints, typeNameComplaints } from "../tools/names.ts";
import { exportComplaints, publicExports } from "../tools/public-exports.ts";
import { filesUnder, importsOf, root } from "../tools/source-files.ts";

const source = filesUnder("src", ".ts");
const laboratory = filesUnder("lab", ".ts");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, string | { types: string; default: string }>;
  bin: Record<string, string>;
  files: string[];
};

const sourceOf = (built: string): string =>
  built.replace(/^\.\/dist\//, "src/").replace(/\.(d\.ts|js)$/, ".ts");
const entries = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [sourceOf(entry.default)],
);

describe("the house", () => {
  it("imports downwards only, and the core knows no machine", () => {
    expect(layerComplaints(source)).toEqual([]);
  });

  it("knows the laboratory nowhere but in itself, and does not ship it", () => {
    const others = ["src", "tools", "bench", "examples"].flatMap((folder) => filesUnder(folder, ".ts"));
    const importers = others.filter((file) =>
      importsOf(file).some((specifier) => posix.join(posix.dirname(file.path), specifier).startsWith("lab/")),
    );
    expect(importers.map(({ path }) => path)).toEqual([]);
    expect(manifest.files).not.toContain("lab");
  });

  it("has no import cycles, type imports counted", () => {
    const others = ["bench", "conformance", "examples", "site", "tools"];
    const files = others.flatMap((folder) => filesUnder(folder, ".ts"));
    expect(cycles([...source, ...laboratory, ...files])).toEqual([]);
  });

  it("calls things by their names", () => {
    expect(nameComplaints([...source, ...laboratory])).toEqual([]);
  });

  it("uses and shows no name that it gave up", () => {
    const shown = [...filesUnder("examples", ".ts"), ...filesUnder("docs", ".md")];
    expect(formerNameComplaints([...source, ...shown])).toEqual([]);
    expect(formerNameComplaints([{ path: "docs/x.md", text: "`stopOn: []`" }])).toEqual([
      'docs/x.md: "stopOn"',
    ]);
  });

  it("has one idea for each name of a type in the rooms in which a run flows", () => {
    const core = source.filter(({ path }) => !/^src\/(?:adapters|eval|cli)\//.test(path));
    expect(typeNameComplaints(core)).toEqual([]);
  });

  it("says of everything that is kept for as long as the program runs what it depends on", () => {
    const kept =
      /^(?:export )?(?:let \w+|const \w+(?:[^;=]|=>)*=\s+(?:remembered\(|new (?:Weak)?(?:Map|Set)(?:<[^;]*?>)?\(\)))/gm;
    const found = source.flatMap(({ path, text }) =>
      [...text.matchAll(kept)].map(({ 0: line, index }) => {
        const above = text.slice(0, index).split("\n\n").at(-1) ?? "";
        return { line: `${path}: ${line}`, isSaid: /(?:Depends on|Register): |Register, /.test(above) };
      }),
    );
    expect(found.length).toBeGreaterThan(40);
    expect(found.filter(({ isSaid }) => !isSaid).map(({ line }) => line)).toEqual([]);
  });

  it("leaves functions of a run to the young generation of V8", () => {
    const rooms =
      /^src\/(?:run|turn|call|journal|policy|agent|message|event|session|durable|eval\/simulate)\//;
    expect(keptFunctions(source.filter(({ path }) => rooms.test(path)))).toEqual([]);
    const kept = ["this.end = () => 1;", "const call = { get name() { return 1; } };"];
    expect(keptFunctions(kept.map((text) => ({ path: "kept.ts", text })))).toEqual([
      "kept.ts:1",
      "kept.ts:1",
    ]);
  });

  it("exports no function and no value that no other file uses", () => {
    const folders = ["src", "test", "tools", "bench", "examples", "lab"];
    const all = folders.flatMap((folder) => filesUnder(folder, ".ts", ".tsx"));
    const used = new Map<string, number>();
    for (const { text } of all)
      for (const word of new Set(text.match(/\w+/g))) used.set(word, (used.get(word) ?? 0) + 1);
    const lonely = filesUnder("src", ".ts", ".tsx").flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?(?:function\*?|const) (\w+)/gm)]
        .filter(([, name = ""]) => used.get(name) === 1)
        .map(([, name]) => `${path}: ${name}`),
    );
    expect(lonely).toEqual([]);
  });

  it("exports files that exist, with their types", () => {
    for (const [name, entry] of Object.entries(manifest.exports)) {
      const files = typeof entry === "string" ? [entry] : [entry.default, entry.types];
      for (const file of files) expect(existsSync(join(root, file)), `${name}: ${file}`).toBe(true);
    }
    expect(existsSync(join(root, sourceOf(manifest.bin["writ"] ?? "")))).toBe(true);
    expect(entries).toHaveLength(28);
  });

  it("has one door for each public name, and at most 60 names behind the first", () => {
    const names = publicExports(entries, source).map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(publicExports(["src/index.ts"], source).length).toBeLessThanOrEqual(60);
  });

  it("documents every public export, and shows every value in an example", () => {
    const exports = publicExports(entries, source);
    expect(exports.length).toBeGreaterThan(400);
    expect(exportComplaints(exports)).toEqual([]);
  });

  it("uses and documents every error code", () => {
    const code = source
      .filter(({ path }) => path !== "src/error/codes.ts")
      .map(({ text }) => text)
      .join("\n");
    const page = readFileSync(join(root, "docs/errors.md"), "utf8");
    for (const name of Object.keys(catalogue)) {
      expect(code.includes(`"${name}"`), `${name} is not used`).toBe(true);
      expect(page.includes(`## ${name}\n`), `${name} is not in docs/errors.md`).toBe(true);
    }
  });
});
