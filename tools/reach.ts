import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { type BrokenCopy, isOfPage } from "./broken-copy.ts";
import { type Node, nodesIn } from "./mutations.ts";
import { filesUnder, root, type SourceFile } from "./source-files.ts";

/** A test file that reaches a place, and the milliseconds that it takes. */
export interface Reaching {
  readonly file: string;
  readonly ms: number;
}

/** A place of src that tells when it is reached: a function, or the whole file where `body` is left out. */
interface Place {
  /** The path of its file and its number there. */
  readonly name: string;
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly body?: Node;
}

/** What a test file reached, by the names of places. */
interface Reached {
  readonly hash: string;
  readonly ms: number;
  readonly places: readonly string[];
}

/** The findings, and the hash of each file of src at that time. */
interface Kept {
  readonly sources: Readonly<Record<string, string>>;
  readonly tests: Readonly<Record<string, Reached>>;
}

const kept = join(root, "coverage/reach.json");

/** Test files that say nothing about a fault: they look at the text of src, or at the size of the build. */
const blind = /^test\/(?:architecture|docs|e2e\/package)\.test\.ts$/;

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The places of a file, the outer before the inner. */
function placesOf({ path, text }: SourceFile): Place[] {
  const found: Omit<Place, "name">[] = [{ path, start: 0, end: text.length }];
  function visit(node: Node): void {
    const [body] = node.type.includes("Function") ? nodesIn(node["body"]) : [];
    if (body !== undefined) found.push({ path, start: node.start, end: node.end, body });
    for (const field of Object.values(node)) for (const inner of nodesIn(field)) visit(inner);
  }
  for (const statement of nodesIn(parseAst(text, { lang: "ts" }).body)) visit(statement);
  return found.map((place, number) => ({ ...place, name: `${path}#${number}` }));
}

/** The text of a file whose places report their names when they are reached. */
function telling(file: SourceFile): string {
  const marks = placesOf(file).flatMap(({ name, end, body }) => {
    const told = `globalThis.writReach?.("${name}")`;
    if (body === undefined) return [{ at: end, mark: `\n;${told};\n` }];
    if (body.type === "BlockStatement") return [{ at: body.start + 1, mark: `${told};` }];
    return [
      { at: body.start, mark: `(${told}, ` },
      { at: body.end, mark: ")" },
    ];
  });
  return marks
    .toSorted((one, other) => other.at - one.at)
    .reduce((code, { at, mark }) => code.slice(0, at) + mark + code.slice(at), file.text);
}

/** Writes the places that a process reaches to the file of its test, in the folder that WRIT_REACH names. */
const recorder = `
import { appendFileSync } from "node:fs";
const reached = new Set();
globalThis.writReach ??= (name) => void reached.add(name);
export function write(ms) {
  const { WRIT_REACH: folder, WRIT_REACH_TEST: test } = process.env;
  if (folder && test) appendFileSync(folder + "/" + test, JSON.stringify({ ms, places: [...reached] }) + "\\n");
}
`;

/** The files of a copy that record the places: for the test files, and for the built program, which tests run as processes. */
export const recorders: Readonly<Record<string, string>> = {
  "reach.mjs": recorder,
  "reach-process.mjs": `import { write } from "./reach.mjs";\nprocess.on("exit", () => write(0));\n`,
  "reach-setup.mjs": `
import { relative } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
if (process.env.WRIT_REACH) {
  const began = Date.now();
  const { write } = await import("./reach.mjs");
  beforeAll(() => {
    process.env.WRIT_REACH_TEST = relative(import.meta.dirname, expect.getState().testPath).replaceAll("/", "~");
  });
  afterAll(() => write(Date.now() - began));
}
`,
};

/** Built files that cannot import a file beside them: code that runs isolated, and code that runs in a browser. */
const alone = /isolate\/child|^inspect\/page\.js$/;

/** Makes the built program of a copy record too. */
function recordBuilt(folder: string): void {
  const names = readdirSync(join(folder, "dist"), { recursive: true, encoding: "utf8" });
  for (const name of names.filter((one) => one.endsWith(".js") && !alone.test(one))) {
    const path = join(folder, "dist", name);
    const [, start = "", code = ""] = /^(#!.*\n)?([^]*)$/.exec(readFileSync(path, "utf8")) ?? [];
    writeFileSync(path, `${start}import "${pathToFileURL(join(folder, "reach-process.mjs")).href}";${code}`);
  }
}

/** Runs test files in a copy whose places report their names. */
async function lookAt(
  tests: readonly SourceFile[],
  { folder, failing }: BrokenCopy,
): Promise<readonly [string, Reached][]> {
  const into = join(folder, "reach");
  mkdirSync(into, { recursive: true });
  process.env["WRIT_REACH"] = into;
  const files = tests.map(({ path }) => path);
  const options = [`--maxWorkers=${availableParallelism()}`];
  await failing(files, { milliseconds: 3_600_000, options });
  delete process.env["WRIT_REACH"];
  return tests.map(({ path, text }) => {
    const file = join(into, path.replaceAll("/", "~"));
    const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    const told = lines.map((line) => JSON.parse(line) as Pick<Reached, "ms" | "places">);
    const ms = told.reduce((sum, one) => sum + one.ms, 0);
    const reached = new Set(told.flatMap((one) => one.places));
    return [path, { hash: hashOf(text), ms, places: [...reached] }];
  });
}

/** True when the path of a test file names a folder of a file: code that runs isolated, or in another program's process, cannot report what it reaches. */
export function speaksOf(file: string, path: string): boolean {
  const folders = path.split("/").slice(1, -1);
  return folders.some((name) => name !== "adapters" && new RegExp(String.raw`\b${name}\b`).test(file));
}

/** True for a browser test that is served the page of the inspector: code in the browser cannot report what it reaches. */
function isServedPage(file: string, places: ReadonlySet<string>): boolean {
  return (
    file.startsWith("test/browser/") &&
    [...places].some((name) => name.startsWith("src/inspect/page-files.ts#"))
  );
}

function readKept(): Kept {
  if (!existsSync(kept)) return { sources: {}, tests: {} };
  return JSON.parse(readFileSync(kept, "utf8")) as Kept;
}

/** The number of test files of a batch. The findings are written after each batch, so that a run that was stopped resumes there. */
const batch = 40;

/** Adds what new and changed test files reach. @throws what cannot be read or written */
async function keptNow(copy: BrokenCopy, sources: readonly SourceFile[]): Promise<Kept> {
  const { folder, build } = copy;
  const asked = filesUnder("test", ".test.ts").filter(({ path }) => !blind.test(path));
  const before = readKept();
  const fresh = asked.filter(({ path, text }) => before.tests[path]?.hash !== hashOf(text));
  if (fresh.length === 0) return before;
  const hashes = Object.fromEntries(sources.map(({ path, text }) => [path, hashOf(text)]));
  const tests = { ...before.tests };
  const found: Kept = { sources: fresh.length === asked.length ? hashes : before.sources, tests };
  for (const file of sources) writeFileSync(join(folder, file.path), telling(file));
  build();
  recordBuilt(folder);
  for (let first = 0; first < fresh.length; first += batch) {
    for (const [path, reached] of await lookAt(fresh.slice(first, first + batch), copy))
      tests[path] = reached;
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, JSON.stringify(found));
    console.log(`looked at ${Math.min(first + batch, fresh.length)} of ${fresh.length} test files`);
  }
  for (const { path, text } of sources) writeFileSync(join(folder, path), text);
  build();
  return found;
}

/**
 * Finds the test files that reach a place of src: every test runs once in a copy whose functions report that they are called. The findings stay
 * in coverage/reach.json, and only new and changed test files run again. For a file of src that changed since, all tests that reached
 * a function of it are given; for the page of the inspector, the tests in a browser too. Without that file, all tests run.
 */
export async function reachIn(copy: BrokenCopy): Promise<(path: string, at: number) => readonly Reaching[]> {
  const sources = filesUnder("src", ".ts");
  const { sources: hashes, tests } = await keptNow(copy, sources);
  const all = Object.entries(tests).map(([file, { ms, places }]) => ({ file, ms, places: new Set(places) }));
  return (path, at) => {
    const source = sources.find((file) => file.path === path) ?? { path, text: "" };
    const inner = placesOf(source).findLast(({ start, end }) => start <= at && at < end)?.name ?? path;
    const isSame = hashes[path] === hashOf(source.text);
    const whole = `${path}#0`; // reached by every test that loads the file
    const isMeant = (name: string): boolean =>
      isSame || inner === whole ? name === inner : name.startsWith(`${path}#`) && name !== whole;
    const reaching = all.filter(
      ({ file, places }) => [...places].some(isMeant) || (isOfPage(path) && isServedPage(file, places)),
    );
    return reaching.length > 0 ? reaching : all.filter(({ file }) => speaksOf(file, path));
  };
}
