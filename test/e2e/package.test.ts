import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { importsOf } from "../../tools/source-files.ts";
import { makeProject, runNode, writ } from "./command-line.ts";

interface Packed {
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
}

const root = posix.join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(posix.join(root, path), "utf8");
const list = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
});
const [packed = { unpackedSize: 0, files: [] }] = JSON.parse(list) as readonly Packed[];
const paths = packed.files.map(({ path }) => path);
const shipped = new Set(paths);
const program = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
const entry = pathToFileURL(posix.join(root, "dist/index.js")).href;

/** The files that an import of one module loads, and what Node loaded of its own. */
async function loadedBy(module: string): Promise<{ files: string[]; builtins: string[] }> {
  const hooks = `import { registerHooks } from "node:module";
    globalThis.loaded = [];
    registerHooks({ load(url, context, next) { globalThis.loaded.push(url); return next(url, context); } });`;
  const main = `await import(${JSON.stringify(module)});
    console.log(JSON.stringify({ files: globalThis.loaded, builtins: process.moduleLoadList }));`;
  const { stdout, stderr } = await runNode([
    "--import",
    program(hooks),
    "--input-type=module",
    "--eval",
    main,
  ]);
  expect(stderr).toBe("");
  const { files, builtins } = JSON.parse(stdout) as { files: string[]; builtins: string[] };
  return { files: files.filter((url) => url.startsWith("file:")), builtins };
}

describe("the package", () => {
  it("is small: what a user does not run or read is not in it", () => {
    expect(paths.filter((path) => /^(?:src|test|tools|bench)\/|\.map$/.test(path))).toEqual([]);
    expect(paths.length).toBeLessThanOrEqual(608);
    expect(packed.unpackedSize).toBeLessThanOrEqual(4_530_000);
  });

  it("has what coding agents read", () => {
    for (const path of ["llms.txt", "skills/writ/SKILL.md", "docs/coding-agents.md"])
      expect(shipped).toContain(path);
  });

  it("brings at most six packages, itself among them", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as Lock;
    const installed = new Set([""]);
    for (const path of installed)
      for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
        const nested = `${path}/node_modules/${name}`;
        installed.add(nested in packages ? nested : `node_modules/${name}`);
      }
    expect(installed.size).toBeLessThanOrEqual(6);
  });

  it("has every file that its JavaScript and its types import", () => {
    for (const path of paths.filter((one) => /^dist\/.*\.(?:js|d\.ts)$/.test(one)))
      for (const specifier of importsOf({ path, text: read(path) }).filter((one) => one.startsWith("."))) {
        const target = posix.join(posix.dirname(path), specifier);
        const file = path.endsWith(".d.ts") ? target.replace(/\.(?:ts|js)$/, ".d.ts") : target;
        expect(shipped, `${path}: ${specifier}`).toContain(file);
      }
  });

  it("has types that name no package which may be absent", () => {
    const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
    const named = paths
      .filter((path) => path.endsWith(".d.ts"))
      .flatMap((path) => importsOf({ path, text: read(path) }))
      .filter((specifier) => !specifier.startsWith(".") && !specifier.startsWith("node:"));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((specifier) => !(specifier in dependencies))).toEqual([]);
  });

  it("has every page that its pages link to", () => {
    for (const path of paths.filter((one) => one.endsWith(".md") && !one.startsWith("dist/"))) {
      const prose = read(path).replaceAll(/^```[\s\S]*?^```$/gm, "");
      for (const [, target = ""] of prose.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)) {
        const file = posix.join(posix.dirname(path), target);
        const isThere = shipped.has(file) || paths.some((one) => one.startsWith(`${file}/`));
        expect(isThere, `${path}: ${target}`).toBe(true);
      }
    }
  });

  it("says whose code is part of it, with the text of each licence", () => {
    const text = read("dist/THIRD-PARTY.md");
    const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
    const sources = paths.filter((path) => path.endsWith(".js")).map(read);
    const bundled = sources.flatMap((source) =>
      [...source.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map((match) => match[1] ?? ""),
    );
    expect(bundled).toContain("commander");
    for (const name of new Set(bundled)) {
      const [, part = ""] = text.split(new RegExp(`^## ${name} \\d+\\.\\d+\\.\\d+$`, "m"));
      expect(part.split("\n## ")[0], name).toMatch(/^Licence: \S[\s\S]*copyright/im);
      expect(dependencies, `${name} is bundled and installed`).not.toHaveProperty(name);
    }
    expect(shipped).toContain("dist/THIRD-PARTY.md");
  });
});

describe("an install", () => {
  it("runs nothing of writ's", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?(?:install|prepare)$/.test(name))).toEqual(
      [],
    );
  });
});

describe("a bundler", () => {
  it.each(["esm", "cjs"] as const)(
    "makes one %s file of a program, and asks for no optional package",
    async (format) => {
      const { folder, remove } = makeProject();
      try {
        writeFileSync(
          posix.join(folder, "main.js"),
          `import { agent } from ${JSON.stringify(entry)};
         agent({ name: "greeter", model: () => "Hello." })("Hi").then(console.log);`,
        );
        const { peerDependencies } = JSON.parse(read("package.json")) as {
          peerDependencies: Record<string, string>;
        };
        const asked: string[] = [];
        const addresses = {
          name: "addresses",
          resolveId(id: string): string | null {
            if (Object.keys(peerDependencies).some((name) => id.startsWith(name))) asked.push(id);
            return id.startsWith("file:") ? fileURLToPath(id) : null;
          },
          // esbuild leaves code in a CommonJS file without an address
          transform: (code: string) =>
            format === "cjs" ? code.replaceAll("import.meta.url", "undefined") : null,
        };
        const bundle = await rolldown({
          input: posix.join(folder, "main.js"),
          platform: "node",
          plugins: [addresses],
          onLog: () => undefined,
        });
        const file = posix.join(folder, "bundle", `main.${format === "esm" ? "mjs" : "cjs"}`);
        await bundle.write({ file, format, codeSplitting: false });
        await bundle.close();
        expect(asked).toEqual([]);
        expect((await runNode([file])).stdout).toBe("Hello.\n");
      } finally {
        remove();
      }
    },
  );
});

describe('import "writ"', () => {
  it("loads a handful of files, nobody else's package, and no cryptography", async () => {
    const { files, builtins } = await loadedBy(entry);
    expect(files.length).toBeLessThanOrEqual(4);
    expect(files.filter((url) => url.includes("node_modules"))).toEqual([]);
    expect(builtins).not.toContain("NativeModule crypto");
  });

  it("loads fake providers with the first of them, and not with the tools for tests", async () => {
    const { files } = await loadedBy(pathToFileURL(posix.join(root, "dist/testing.js")).href);
    expect(files.length).toBeGreaterThan(0);
    for (const url of files)
      expect(readFileSync(new URL(url), "utf8"), url).not.toContain("chat.completion.chunk");
  });
});

describe("an older Node", () => {
  const older = program(`
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });
    for (const [kind, name] of [[Map, "groupBy"], [Object, "groupBy"], [Promise, "withResolvers"], [Array, "fromAsync"]]) delete kind[name];
    for (const name of ["union", "difference", "isSubsetOf"]) delete Set.prototype[name];
    for (const name of ["map", "filter", "take", "some", "toArray"]) delete Iterator.prototype[name];`);
  const { exports } = JSON.parse(read("package.json")) as {
    exports: Record<string, string | { readonly default: string }>;
  };
  /** All but the client: it runs in browsers, and on any Node that has `fetch`. */
  const entries = Object.values(exports)
    .flatMap((one) => (typeof one === "string" ? [] : [one.default]))
    .filter((file) => file !== "./dist/client.js");

  it.each(entries)("is told of by %s, whatever it misses", async (file) => {
    const url = pathToFileURL(posix.join(root, file)).href;
    const main = `await import(${JSON.stringify(url)}).catch((error) => console.log(error.code, error.message));`;
    const { stdout } = await runNode(["--import", older, "--input-type=module", "--eval", main]);
    expect(stdout).toBe("node-outdated Node 20.20.2 is too old: writ needs Node 22.18.0 or newer.\n");
  });

  it.each(entries)("comes as far as the check of %s: names that it lacks are not imported", async (file) => {
    const { files } = await loadedBy(pathToFileURL(posix.join(root, file)).href);
    for (const url of files)
      expect(readFileSync(new URL(url), "utf8"), url).not.toMatch(/^import \{.*\} from "node:/m);
  });

  it.each([[["doctor"]], [["--version"]], [["run", "agent.ts", "Hello"]]])(
    "is told of by writ %j",
    async (words) => {
      const main = posix.join(root, "dist/cli/main.js");
      const { code, stdout, stderr } = await runNode(["--import", older, main, ...words]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain("error[node-outdated] Node 20.20.2 is too old");
      expect(stderr).toContain("npm i -D node@24");
    },
  );
});

describe("the command line", () => {
  it("keeps what it compiled for the next time, where Node keeps such things", async () => {
    const { folder, remove } = makeProject();
    try {
      const env = { TMPDIR: folder, TEMP: folder, TMP: folder, NODE_COMPILE_CACHE: "" }; // the tests have a place of their own for it
      expect(await writ(["--help"], { env })).toMatchObject({ code: 0 });
      expect(existsSync(posix.join(folder, "node-compile-cache"))).toBe(true);
    } finally {
      remove();
    }
  });
});
