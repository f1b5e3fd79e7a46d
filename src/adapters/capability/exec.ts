import { constants } from "node:buffer";
import { constants as modes } from "node:fs";
import { access, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closed } from "../../error/check-shape.ts";
import { resourceText } from "../../tool/capability.ts";
import type { Exec, ExecOptions } from "../../tool/handles.ts";
import { readProgram, readVariable } from "../../tool/name-scope.ts";
import { anything, optional, record, string } from "../../util/shape.ts";
import type { Start } from "./exec-run.ts";
import {
  asHandleFailed,
  checkOptions,
  handleFailed,
  type Lifetime,
  ownSignal,
  signalIn,
} from "./lifetime.ts";
import { anchorOf, openReal, pathOnly } from "./open-file.ts";
import type { FileJudge } from "./real-path.ts";
import { plain, reveal } from "./secrets.ts";
import { isRefusedVariable } from "./exec-variables.ts";

const defaultMaxBytes = 1_000_000;
/** The most bytes of an output: text and the line about omitted bytes must fit into a string. */
const mostBytes = constants.MAX_STRING_LENGTH - 100;

/**
 * The paths of programs, each searched once in this process, so that a later file changes nothing. Depends on: the name of the program;
 * the search path, which is fixed; the files there when it was first found.
 */
const found = new Map<string, string>();

/** The handle of programs of one call. */
export function makeExec(lifetime: Lifetime, judge: FileJudge): Exec {
  return (program, args = [], options = {}) =>
    lifetime.run(
      "exec",
      async (signal) => {
        const resource = checkProgram(program);
        lifetime.use({ kind: "exec", program });
        checkOptions(resource, options, optionsShape);
        const start = { ...readStart(args, options, resource), file: await locate(program, resource) };
        const own = await mkdtemp(join(tmpdir(), "writ-"));
        try {
          const home = join(own, "home");
          const work = join(own, "work");
          await Promise.all([mkdir(home), mkdir(work)]);
          const env = environmentOf(options, { home, lifetime, resource });
          const { runProgram } = await import("./exec-run.ts");
          if (options.cwd === undefined) return await runProgram({ ...start, env, cwd: work }, signal);
          return await inFolder(options.cwd, judge, (cwd) => runProgram({ ...start, env, cwd }, signal));
        } catch (error) {
          throw asHandleFailed(resource, error);
        } finally {
          // A folder that cannot be removed is left: the end of the program is returned all the same.
          await rm(own, { recursive: true, force: true }).catch(() => undefined);
        }
      },
      signalIn(options),
    );
}

const optionsShape = closed({
  cwd: optional(string),
  env: optional(record),
  input: anything,
  signal: ownSignal,
  timeoutMs: anything,
  maxBytes: anything,
  onLimit: anything,
});

function checkProgram(program: unknown): string {
  const resource = `exec(${String(program)})`;
  if (process.platform === "win32") throw handleFailed(resource, "no programs are run on Windows.");
  const reading = typeof program === "string" ? readProgram(program) : undefined;
  if (reading === undefined) throw handleFailed(resource, "a program is a text.");
  if (!reading.ok) throw handleFailed(resource, reading.reason);
  if (reading.scope !== program) throw handleFailed(resource, `write it as ${reading.scope}.`);
  return resource;
}

function readStart(
  args: readonly string[],
  { input, timeoutMs, maxBytes = defaultMaxBytes, onLimit = "fail" }: ExecOptions,
  resource: string,
): Omit<Start, "file" | "cwd" | "env"> {
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string" && !arg.includes("\0")))
    throw handleFailed(resource, "the arguments are a list of texts without NUL.");
  for (const arg of args as readonly string[]) plain(arg, resource);
  if (typeof input === "string") plain(input, resource);
  else if (input !== undefined && !(input instanceof Uint8Array))
    throw handleFailed(resource, "the input is a text or bytes.");
  if (!(maxBytes > 0)) throw handleFailed(resource, "`maxBytes` must be a positive number.");
  if (timeoutMs !== undefined && !(timeoutMs > 0))
    throw handleFailed(resource, "`timeoutMs` must be a positive number.");
  if (onLimit !== "fail" && onLimit !== "cut") throw handleFailed(resource, '`onLimit` is "fail" or "cut".');
  return { args, input, timeoutMs, maxBytes: Math.min(maxBytes, mostBytes), onLimit, resource };
}

async function locate(program: string, resource: string): Promise<string> {
  const known = found.get(program);
  if (known !== undefined) return known;
  const candidates = program.startsWith("/") ? [program] : searchPath.map((folder) => join(folder, program));
  for (const candidate of candidates) {
    if (!(await isProgram(candidate))) continue;
    found.set(program, candidate);
    return candidate;
  }
  throw handleFailed(resource, "there is no such program.");
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, modes.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Holds open a folder that may be read, while something runs in it. */
async function inFolder<Value>(
  path: string,
  judge: FileJudge,
  work: (cwd: string) => Promise<Value>,
): Promise<Value> {
  const resource = resourceText({ kind: "fs.read", path });
  const { path: real, problem } = await judge.find("fs.read", path);
  if (problem !== undefined) throw asHandleFailed(resource, problem);
  const folder = await openReal(real, (pathOnly ?? modes.O_RDONLY) | modes.O_DIRECTORY, resource).catch(
    (error: unknown) => {
      throw asHandleFailed(resource, error);
    },
  );
  try {
    return await work(anchorOf(folder, real));
  } finally {
    await folder.close();
  }
}

/** The folders that are searched for programs: none belongs to a user or a project. */
const searchPath: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/** The whole environment of a program. @throws WritError `handle-failed` for a name that is refused */
function environmentOf(
  options: ExecOptions,
  {
    home,
    lifetime,
    resource,
  }: { readonly home: string; readonly lifetime: Lifetime; readonly resource: string },
): Record<string, string> {
  const environment: Record<string, string> = { PATH: searchPath.join(":"), HOME: home, LANG: "C.UTF-8" };
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (!readVariable(name).ok || isRefusedVariable(name))
      throw handleFailed(resource, `the variable ${JSON.stringify(name)} is refused.`);
    const text = reveal(value, lifetime, resource);
    if (text.includes("\0")) throw handleFailed(resource, `the variable ${name} has a NUL in it.`);
    environment[name] = text;
  }
  return environment;
}
