/**
 * Checks the examples of the documents, of the skill for coding agents and of the doc comments in src. Each block ```ts is compiled as a user's file that
 * imports the built package. Each block ```ts run is run as well: offline, from the root of the repository; it must exit with 0 and print the
 * ```text block that follows it. Every page of docs has one that runs, with a few exceptions. Exits with 1 and prints what is wrong, otherwise with 0 and how
 * many compile and run. A word on the command line limits it to files with that word in their path.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, root, type SourceFile } from "./source-files.ts";

interface Example {
  /** Where it stands, as `docs/tools.md:12`. */
  readonly where: string;
  readonly code: string;
  readonly runs: boolean;
  /** The ```text block after it. */
  readonly printed: string | undefined;
}

const folder = join(root, "node_modules/.cache/writ-examples");
/** The pages without an example that runs: lists, what is generated, and what needs files or servers of its own. */
const withoutRun: ReadonlySet<string> = new Set(
  [
    "approvals-compared",
    "compare",
    "concepts",
    "coverage",
    "errors",
    "failures-compared",
    "mcp-conformance",
    "fuzzing",
    "glossary",
    "postgres",
    "recorded-replies",
    "small-models-measured",
  ].map((name) => `docs/${name}.md`),
);
const fence = /^```ts( run)?\n([\s\S]*?)^```$(?:\n+^```text\n([\s\S]*?)^```$)?/gm;

/** The examples of a file; in doc comments the stars at the line's beginning are taken off. */
function examplesOf({ path, text }: SourceFile): Example[] {
  const plain = path.endsWith(".md") ? text : text.replaceAll(/^[ \t]*\* ?/gm, "");
  return [...plain.matchAll(fence)].map((match) => ({
    where: `${path}:${plain.slice(0, match.index).split("\n").length}`,
    code: match[2] ?? "",
    runs: match[1] !== undefined,
    printed: match[3],
  }));
}

/** The compiler's words; empty when all examples compile. */
function compile(examples: readonly Example[]): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { where, code } of examples)
    writeFileSync(join(folder, `${where.replaceAll(/[/.:]/g, "-")}.ts`), `${code}\nexport {};\n`);
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, rootDir: root },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-p", folder],
    { encoding: "utf8" },
  );
  return status === 0 ? "" : stdout;
}

/** Makes every connection of an example fail. */
const offline =
  'data:text/javascript,import net from "node:net"; net.Socket.prototype.connect = () => { throw new Error("examples that run are offline"); };';

/** What is wrong with an example that runs; undefined when it prints its ```text block. */
function complaint({ where, code, printed }: Example): string | undefined {
  if (printed === undefined) return `${where}: no \`\`\`text block says what it prints`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", offline, "--input-type=module-typescript", "--no-warnings", "-"],
    { cwd: root, env: { TZ: "UTC" }, input: code, encoding: "utf8", timeout: 30_000 },
  );
  if (status !== 0) return `${where}: exits with ${status}\n${stdout}${stderr}`;
  return stdout === printed ? undefined : `${where}: prints\n${stdout}and says that it prints\n${printed}`;
}

const wanted = process.argv[2] ?? "";
const files = [
  ...filesUnder("src", ".ts"),
  ...filesUnder("docs", ".md"),
  ...filesUnder("lab", ".md"),
  ...filesUnder("skills", ".md"),
  ...filesUnder(".", "README.md").filter(({ path }) => path === "README.md"),
].filter(({ path }) => path.includes(wanted));
const found = files.map((file) => ({ file, examples: examplesOf(file) }));
const examples = found.flatMap((entry) => entry.examples);
const running = examples.filter(({ runs }) => runs);

const idle = found
  .filter(({ file: { path } }) => /^docs\/(?:from\/)?[^/]+$/.test(path) && !withoutRun.has(path))
  .filter((entry) => !entry.examples.some(({ runs }) => runs))
  .map(({ file }) => `${file.path}: no example of it runs (\`\`\`ts run)`);
const complaints = [compile(examples), ...idle, ...running.map(complaint)].filter(
  (text) => text !== undefined && text !== "",
);

console.log(
  complaints.length === 0
    ? `${examples.length} examples compile, ${running.length} of them run`
    : complaints.join("\n\n"),
);
process.exitCode = complaints.length === 0 ? 0 : 1;
