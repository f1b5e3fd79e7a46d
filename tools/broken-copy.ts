import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { root } from "./source-files.ts";

/**
 * A copy of the repository in a temporary folder, in which files may be broken. It is gone when the process ends. Beside it stands the data that tests
 * read in ../shared.
 */
export interface BrokenCopy {
  readonly folder: string;
  /** Builds the program of its src. */
  readonly build: () => void;
  /** The compiler takes its src with a changed file. What is left unused is no fault. */
  readonly compiles: (changed: string) => boolean;
  /**
   * Runs test files and gives those that failed: all of them where there is no report. Undefined when their time was over: a fault can make a loop
   * endless.
   */
  readonly failing: (files: readonly string[], how: Terms) => Promise<readonly string[] | undefined>;
}

/** The time that tests have, and options of vitest. */
interface Terms {
  readonly milliseconds: number;
  readonly options: readonly string[];
}

const copied = [
  "src",
  "test",
  "tools",
  "lab",
  "examples",
  "docs",
  "dist",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "README.md",
  "CHANGELOG.md",
  "AGENTS.md",
];

/**
 * The settings of the tests in the copy: the files that WRIT_TESTS names run, in that order. They have the patience of vitest.config.ts: with less, tests
 * fail on a busy machine without a fault, and what they notice does not count.
 */
const settings = `
import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";
const include = JSON.parse(process.env.WRIT_TESTS);
const place = ({ moduleId }) => include.indexOf(relative(import.meta.dirname, moduleId));
class AsGiven extends BaseSequencer {
  sort = async (files) => files.toSorted((one, other) => place(one) - place(other));
}
const patience = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } };
export default { test: { include, ...patience, sequence: { sequencer: AsGiven }, setupFiles: "./reach-setup.mjs" } };
`;

/** Makes a copy with some more files, by their names. */
export function brokenCopy(more: Readonly<Record<string, string>>): BrokenCopy {
  const place = mkdtempSync(join(tmpdir(), "writ-mutate-"));
  process.once("exit", () => rmSync(place, { recursive: true, force: true }));
  const shared = join(root, "../shared");
  if (existsSync(shared)) symlinkSync(shared, join(place, "shared"), "junction");
  const folder = join(place, "writ");
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  for (const [name, text] of Object.entries({ ...more, "vitest.config.ts": settings }))
    writeFileSync(join(folder, name), text);
  const build = (): void => {
    spawnSync(process.execPath, ["tools/bundle.ts"], { cwd: folder, stdio: "ignore" });
  };
  return {
    folder,
    build,
    compiles: (changed) => compiles(folder, changed),
    failing(files, how) {
      const isRecording = process.env["WRIT_REACH"] !== undefined; // what is built records already
      if (!isRecording && files.some((file) => /^test\/(?:browser|e2e)\//.test(file))) build();
      return failing(folder, files, how);
    },
  };
}

/** Code of the inspector's page, which runs in a browser: a program of its own. */
export function isOfPage(path: string): boolean {
  return path.startsWith("src/inspect/page/");
}

function compiles(folder: string, changed: string): boolean {
  const project = isOfPage(changed) ? "src/inspect/page" : "tsconfig.build.json";
  const lenient = ["--noUnusedLocals", "false", "--noUnusedParameters", "false", "--allowUnreachableCode"];
  const again = ["--incremental", "--tsBuildInfoFile", join(folder, `${basename(project)}.tsbuildinfo`)];
  const options = ["-p", project, "--noEmit", "--emitDeclarationOnly", "false", ...lenient, ...again];
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler, ...options], { cwd: folder, stdio: "ignore" }).status === 0;
}

async function failing(
  folder: string,
  files: readonly string[],
  { milliseconds, options }: Terms,
): Promise<readonly string[] | undefined> {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const tests = spawn(
    process.execPath,
    [vitest, "run", "--reporter=json", `--outputFile=${report}`, ...options],
    {
      cwd: folder,
      env: { ...process.env, WRIT_TESTS: JSON.stringify(files) },
      stdio: "ignore",
      detached: true, // a group of its own, with which the workers end that hang in a loop
    },
  );
  if (!(await endsWithin(tests, milliseconds))) return undefined;
  if (!existsSync(report)) return files;
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  return testResults.filter(hasFailed).map(({ name }) => relative(folder, name));
}

interface Report {
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly unknown[];
}

/** Tells a file that failed from one that did not run since another one had failed: vitest gives both the same status. */
function hasFailed({ status, message, assertionResults }: FileReport): boolean {
  return status === "failed" && (message !== "" || assertionResults.length > 0);
}

/** Waits for the end of a process that leads a group; nothing of the group is left afterwards. */
async function endsWithin(leader: ChildProcess, milliseconds: number): Promise<boolean> {
  const { pid } = leader;
  const killAll = (): void => {
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // the group has ended by itself
    }
  };
  process.once("exit", killAll);
  const ended = new Promise<boolean>((resolve) => void leader.once("exit", () => resolve(true)));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const isInTime = await Promise.race([ended, late]);
  clearTimeout(timer);
  killAll();
  process.off("exit", killAll);
  return isInTime;
}
