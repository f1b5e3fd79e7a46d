import { readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { WritError } from "../../error/writ-error.ts";
import type { Probe } from "../../tool/enforcement.ts";
import { isJsonObject } from "../../util/json.ts";
import { atRest, type Cell, startCell } from "./cell.ts";
import { boxes } from "./bubblewrap.ts";
import { cellProgram, requireNode } from "./launch.ts";
import type { Bind } from "./node-files.ts";

/** The result of trying the interpreter on this machine. */
export interface Interpreter {
  readonly probes: readonly Probe[];
}

const engine = "quickjs-emscripten";

// Depends on: the machine.
let tried: Promise<Interpreter> | undefined;

/** Tries once per process what code can do inside the interpreter. @throws WritError `peer-missing` */
export function interpreter(): Promise<Interpreter> {
  tried ??= atRest(tryInterpreter).then((probes) => ({ probes }));
  tried.catch(() => {
    tried = undefined;
  });
  return tried;
}

/** Starts a cell that runs code in the interpreter; in a box if that works, as a second barrier. */
export async function startInterpreter({
  memoryBytes,
  handles,
}: {
  readonly memoryBytes: number;
  readonly handles: readonly string[];
}): Promise<Cell> {
  requireNode();
  const found = await boxes();
  const program = cellProgram().replace(/main\.(ts|js)$/, "quickjs.$1");
  return startCell({
    layout: {
      binds: packages(),
      inBox: `file:///box/writ/quickjs${program.slice(-3)}`,
      onHost: pathToFileURL(program).href,
    },
    bwrap: found.works ? found.bwrap : undefined,
    memoryBytes: 128_000_000,
    // Ended interpreters take memory until Node collects garbage.
    dataBytes:
      found.works && found.dataBytes > 0 ? found.dataBytes + 512_000_000 + 4 * memoryBytes : undefined,
    export: "execute",
    handles,
  });
}

/** The interpreter's package and its imports, each where the cell's program finds it. */
function packages(): Bind[] {
  const binds = new Map<string, string>();
  const open: [name: string, from: string][] = [[engine, import.meta.url]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, from] = next;
    if (binds.has(name)) continue;
    const manifest = packageManifest(name, from);
    binds.set(name, dirname(manifest));
    const about: unknown = JSON.parse(readFileSync(manifest, "utf8"));
    const dependencies = isJsonObject(about) ? about["dependencies"] : undefined;
    for (const each of Object.keys(dependencies ?? {})) open.push([each, pathToFileURL(manifest).href]);
  }
  return [...binds].map(([name, from]) => ({ from, to: `/box/node_modules/${name}` }));
}

/** @throws WritError `peer-missing` */
function packageManifest(name: string, from: string): string {
  try {
    const found = findPackageJSON(name, from);
    if (found !== undefined) return realpathSync(found.startsWith("file:") ? fileURLToPath(found) : found);
  } catch (cause) {
    throw peerMissing(cause);
  }
  throw peerMissing();
}

function peerMissing(cause?: unknown): WritError<"peer-missing"> {
  const data = { package: engine, purpose: "code that a model writes", command: `npm i ${engine}` };
  return new WritError("peer-missing", data, { cause });
}

/** Each returns true if it is prevented; otherwise it returns no value. */
const canaries: Readonly<Record<string, string>> = {
  "names of Node": `[typeof process, typeof require, typeof module, typeof Buffer, typeof fetch, typeof WebSocket, typeof WebAssembly, typeof setTimeout, typeof navigator].every((type) => type === "undefined")`,
  "process through a constructor": `typeof this.constructor.constructor("return typeof process === 'undefined' ? undefined : process")() === "undefined"`,
  "process through a given function": `typeof (await probe.constructor("return typeof process === 'undefined' ? undefined : process")()) === "undefined"`,
  "read outside": `try { await import("node:fs"); return false } catch { return true }`,
  "read a file as a module": `try { await import("file:///etc/passwd"); return false } catch { return true }`,
  "start a program": `try { await import("node:child_process"); return false } catch { return true }`,
  "connect to the host": `try { await import("node:net"); return false } catch { return true }`,
  "environment variables": `typeof globalThis.process?.env === "undefined"`,
  "another piece of code": `typeof globalThis.left === "undefined" && [].polluted === undefined && (Object.prototype.polluted = globalThis.left = true)`,
  "another piece of code again": `typeof globalThis.left === "undefined" && ({}).polluted === undefined`,
};

/** Endless and unbounded code, which must end with a reason. */
const bombs: Readonly<Record<string, string>> = {
  "endless loop": "for (;;);",
  "memory without end": "const all = []; for (;;) all.push(new Uint8Array(100_000));",
  "endless recursion": "(function again() { again(); })()",
};

async function tryInterpreter(): Promise<Probe[]> {
  const memoryBytes = 17_000_000;
  const cell = await startInterpreter({ memoryBytes, handles: ["functions.probe"] });
  const patience = setTimeout(() => cell.kill(), 20_000);
  const handles = { functions: new Map([["probe", () => null]]) };
  const run = async (code: string, timeoutMs: number): Promise<unknown> => {
    const args = { code, input: null, functions: ["probe"], timeoutMs, memoryBytes, resultBytes: 100 };
    const call = { args, callId: "canaries", idempotencyKey: "canaries", handles, progress: () => undefined };
    const outcome = await cell.run(call);
    return isJsonObject(outcome) ? (outcome["json"] ?? "ended") : undefined;
  };
  const probes: Probe[] = [];
  try {
    for (const [name, code] of Object.entries(canaries))
      probes.push({ name, held: (await run(code, 5_000)) === "true" }); // a time-out on a busy machine is not an escape
    for (const [name, code] of Object.entries(bombs))
      probes.push({ name, held: (await run(code, 200)) === "ended" });
  } finally {
    clearTimeout(patience);
    cell.kill();
  }
  return probes;
}
