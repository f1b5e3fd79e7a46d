/**
 * Makes the JavaScript of the package: a file for each entry of package.json, one chunk for what `import "writ"` loads, and chunks for what is
 * imported on demand. Importing two hundred small files takes Node longer than all that writ does at its start. Packages that package.json does
 * not list as dependencies are bundled, with their licences. The types stay one file a module, with the declarations that users come to.
 */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import {
  type ChunkingContext,
  type CodeSplittingGroup,
  type OutputOptions,
  type Plugin,
  rolldown,
} from "rolldown";
import { minifySync, parseSync, Visitor } from "rolldown/utils";
import { reachedTypes } from "./reached-types.ts";
import { withUndefined } from "./undefined-options.ts";
import { filesUnder, root } from "./source-files.ts";
import { packageFolders, thirdPartyText } from "./third-party.ts";

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly default: string; readonly types: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
const entries = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry],
);
const files = [...entries.map((entry) => entry.default), ...Object.values(manifest.bin)];
const names = files.flatMap((file) => /^\.\/dist\/(.+)\.js$/.exec(file)?.[1] ?? []);
const input = Object.fromEntries(names.map((name) => [name, source(name)]));
/** The programs of isolated tools: each whole in its folder, which is all of the package that their boxes see. */
const cells = ["main", "canaries", "quickjs"].map((name) => `adapters/isolate/child/${name}`);
/** The packages that users install beside this one. */
const installed = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)];

const output: OutputOptions = {
  dir: join(root, "dist"),
  // Chunks stand as deep as the modules of most layers do: paths relative to them stay right.
  chunkFileNames: "chunks/[name]-[hash].js",
  entryFileNames: "[name].js",
  comments: { legal: false, jsdoc: false, annotation: false },
  // `import { agent }` is shorter than `import { a as agent }`, and can be read.
  minifyInternalExports: false,
  // V8 reads a file of ASCII alone as bytes, without decoding it.
  charset: "ascii",
};

/** What the command line begins with, also to say that Node is too old. */
const start = ["cli/main", "cli/program", "cli/error-text", "cli/output", "cli/exit-code"];

/** Small modules that several other entries share, each of which loads `core` too: every one would be a file of its own. */
const small = [
  "adapters/at-program-end",
  "adapters/one-after-another",
  "adapters/stored-note",
  "adapters/stored-text",
  "agent/agents-option",
  "durable/forget-session",
  "durable/moved-run",
  "session/note-store",
];

/**
 * What `import "writ"` loads becomes one chunk, `core`. What the start of the command line loads of it too is a second one, `base`, so that
 * `writ --help` does not load the rest.
 */
const core: CodeSplittingGroup = {
  debugName: "core and base",
  name(module, context) {
    if (small.some((name) => module === source(name))) return "core";
    if (!reachedFrom("index", context).has(module)) return null;
    const isOfStart = start.some((name) => reachedFrom(name, context).has(module));
    return isOfStart ? "base" : "core";
  },
};

/** Other people's code: a chunk a package. */
const others: CodeSplittingGroup = {
  debugName: "others",
  name(module) {
    const [, name] = /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(module) ?? [];
    return name?.replace("@", "").replaceAll(/[\\/]/g, "-") ?? null;
  },
};

/**
 * Node makes a built-in module importable by reading all of its exports, also those that load more of Node: `node:fs` takes 3 ms.
 * What an entry loads takes the module as it is. On a Node that lacks one, the check of Node's version is still reached.
 */
const builtinsAsTheyAre: Plugin = {
  name: "builtins-as-they-are",
  renderChunk: (code, { isDynamicEntry, name }) =>
    isDynamicEntry
      ? null
      : code.replaceAll(/^import \{ (.+) \} from "(node:.+)";$/gm, (_line, names: string, module: string) =>
          name === "core" && ofFunctions.has(module)
            ? calledLater(names, module)
            : `const { ${names.replaceAll(" as ", ": ")} } = process.getBuiltinModule?.("${module}") ?? {};`,
        ),
};

/** Modules of Node that it has not loaded by itself, of which only functions are used: Node loads such a module with the first call. */
const ofFunctions: ReadonlySet<string> = new Set(["node:fs/promises", "node:module"]);

function calledLater(names: string, module: string): string {
  const later = names.split(", ").map((each) => {
    const [name = each, local = name] = each.split(" as ");
    return `const ${local} = (...given) => process.getBuiltinModule("${module}").${name}(...given);`;
  });
  return later.join("\n");
}

/**
 * Chunks of other people's code alone are minified: nobody reads our stack traces there. The first line says whose code it is. Our own code keeps its names
 * and lines, without the paths of its modules, as the name of a function finds its file, and without indentation, a thirtieth of the package.
 */
const smaller: Plugin = {
  name: "smaller",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== "chunk") continue;
      file.code = file.code.replaceAll(/^\/\/ src\/.+\n/gm, "");
      const marks = file.code.match(/^\/\/ node_modules\/.+$/gm) ?? [];
      const isOurs = !file.moduleIds.every((id) => id.includes(`${sep}node_modules${sep}`));
      if (isOurs) file.code = withoutIndentation(file.fileName, file.code);
      if (isOurs || marks.length === 0) continue;
      const { code } = minifySync(file.fileName, file.code, { module: true });
      file.code = `${marks.join("\n")}\n${code}\n`;
    }
  },
};

/** Takes the tabs at the beginnings of lines away, except in template literals, where they are text. */
function withoutIndentation(fileName: string, code: string): string {
  const texts: { readonly start: number; readonly end: number }[] = [];
  new Visitor({ TemplateElement: (text) => void texts.push(text) }).visit(parseSync(fileName, code).program);
  const ofLines = texts.filter(({ start, end }) => code.slice(start, end).includes("\n"));
  return code.replaceAll(/^\t+/gm, (tabs, at: number) =>
    ofLines.some(({ start, end }) => start <= at && at < end) ? tabs : "",
  );
}

const known = new Map<string, ReadonlySet<string>>();

/** The modules that a module of ours loads when it is loaded, itself among them. */
function reachedFrom(name: string, context: ChunkingContext): ReadonlySet<string> {
  const before = known.get(name);
  if (before !== undefined) return before;
  const reached = new Set([source(name)]);
  for (const id of reached)
    for (const next of context.getModuleInfo(id)?.importedIds ?? []) reached.add(next);
  known.set(name, reached);
  return reached;
}

function source(name: string): string {
  return join(root, `src/${name}.ts`);
}

/** Bundles these modules, and gives the paths of all that went into the files. */
async function build(
  input: Readonly<Record<string, string>>,
  groups: CodeSplittingGroup[],
): Promise<string[]> {
  const bundle = await rolldown({
    input: { ...input },
    platform: "node",
    transform: { target: "node22.18" }, // the oldest Node that package.json allows
    plugins: [builtinsAsTheyAre, smaller],
    treeshake: {
      moduleSideEffects: [{ test: /\/src\/(?:testing|adapters\/check-node)\.ts$/, sideEffects: true }],
    },
    external: (id) => installed.some((name) => id === name || id.startsWith(`${name}/`)),
  });
  const written = await bundle.write({ ...output, codeSplitting: { groups } });
  await bundle.close();
  return written.output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
}

/** Bundles the page of the inspector into one script, minified, and gives the paths of all that went into it. Its first lines say whose code it is. */
async function buildPage(): Promise<string[]> {
  const bundle = await rolldown({
    input: join(root, "src/inspect/page/main.tsx"),
    platform: "browser",
  });
  const { output } = await bundle.generate({ format: "es", codeSplitting: false });
  await bundle.close();
  const [{ fileName, code, moduleIds }] = output;
  const marks = packageFolders(moduleIds).map(
    (folder) => `// ${relative(root, folder).replaceAll(sep, "/")}/\n`,
  );
  mkdirSync(join(root, "dist/inspect"), { recursive: true });
  writeFileSync(
    join(root, "dist/inspect/page.js"),
    marks.join("") + minifySync(fileName, code, { module: true }).code,
  );
  const css = readFileSync(join(root, "src/inspect/page/page.css"), "utf8");
  writeFileSync(
    join(root, "dist/inspect/page.css"),
    css.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/\s*([{};,])\s*/g, "$1"),
  );
  return moduleIds;
}

for (const { path } of filesUnder("dist", ".js", ".map")) rmSync(join(root, path));
const types = entries.map((entry) => entry.types.replace("./", ""));
const declarations = filesUnder("dist", ".d.ts");
for (const { path } of declarations) rmSync(join(root, path));
for (const { path, text } of reachedTypes(types, declarations))
  writeFileSync(join(root, path), withUndefined(text));
const modules = await build(input, [core, others]);
for (const name of cells) modules.push(...(await build({ [name]: source(name) }, [])));
modules.push(...(await buildPage()));
writeFileSync(join(root, "dist/THIRD-PARTY.md"), thirdPartyText(packageFolders(modules)));
for (const program of Object.values(manifest.bin)) chmodSync(join(root, program), 0o755);
