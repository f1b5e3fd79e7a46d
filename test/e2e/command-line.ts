import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const repository = join(import.meta.dirname, "../..");
const main = join(repository, "dist/cli/main.js");

/** What a process gave. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a process is started. */
export interface StartOptions {
  /** What is piped in; without it the standard input is empty. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Called with the process once it is there. */
  readonly meanwhile?: (child: ChildProcess) => void;
}

/** Runs the built command line with the Node of the tests. */
export function writ(words: readonly string[], options: StartOptions = {}): Promise<Ended> {
  if (!existsSync(main)) throw new Error(`${main} is not there: run \`npm run build\` first`);
  return runNode([main, ...words], options);
}

/** Runs Node, without the variables of the tests that would change what is printed. */
export function runNode(
  words: readonly string[],
  { input = "", env = {}, cwd = repository, meanwhile }: StartOptions = {},
): Promise<Ended> {
  const {
    FORCE_COLOR: _colour,
    WRIT_MODEL: _model,
    OLLAMA_HOST: _host,
    NODE_OPTIONS: _options,
    ...inherited
  } = process.env;
  const child = spawn(process.execPath, words, { cwd, env: { ...inherited, ...env } });
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => undefined); // it may end before it read everything
    child.stdin.end(input);
    meanwhile?.(child);
  });
}

/** A project of a user, that has writ among its packages. */
export interface Project {
  readonly folder: string;
  /** Writes a file and gives its path in the project. */
  readonly file: (path: string, text: string) => string;
  readonly remove: () => void;
}

/** Makes a project in a temporary folder. */
export function makeProject(): Project {
  const folder = mkdtempSync(join(tmpdir(), "writ-project-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(repository, join(folder, "node_modules/writ"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  return {
    folder,
    file(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A URL on this machine where nothing listens. */
export function closedUrl(): Promise<string> {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(`http://127.0.0.1:${port}`));
    });
  });
}
