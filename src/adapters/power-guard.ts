import childProcess from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import tls from "node:tls";
import workerThreads from "node:worker_threads";
import { WritError } from "../error/writ-error.ts";
import { current } from "./capability/lifetime.ts";

/** A use of a power by a tool that did not take it from its context. */
export interface UndeclaredPower {
  readonly tool: string;
  readonly callId: string;
  /** The power: `the network (fetch)`; for a variable its name, never its value. */
  readonly power: string;
}

/** The detector of tools that use undeclared powers. There is one in a process. */
export interface PowerGuard {
  readonly isOn: boolean;
  /** The uses since the guard was switched on, including those whose error the tool caught. */
  readonly found: readonly UndeclaredPower[];
  /** Replaces Node's functions with guarded ones, and forgets the uses so far. */
  readonly on: () => void;
  /** Restores Node's functions. */
  readonly off: () => void;
}

/** Variables with which libraries detect their surroundings; they hold nothing that a tool could misuse. */
const harmless =
  /^(?:NODE_ENV|NODE_DEBUG|DEBUG|NO_COLOR|FORCE_COLOR|COLORTERM|TERM|CI|TZ|LANG|LC_.*|VITEST.*|JEST.*|TEST|toJSON)$/;

// Register: the uses since the guard was switched on, and the functions that remove it.
let found: UndeclaredPower[] = [];
let takeBack: (() => void) | undefined;

const guard: PowerGuard = {
  get isOn() {
    return takeBack !== undefined;
  },
  get found() {
    return found;
  },
  on() {
    found = [];
    if (takeBack !== undefined) return;
    const undo = [...targets.flatMap(patch), patchEnvironment()];
    syncBuiltinESMExports();
    takeBack = () => {
      for (const step of undo) step();
      syncBuiltinESMExports();
    };
  },
  off() {
    takeBack?.();
    takeBack = undefined;
  },
};

/**
 * The guard that finds tools which use the network, files, programs or variables directly and not through the handles of their context: such a use throws
 * `power-undeclared` at its place. Importing `writ/testing` switches it on; `powerGuard().off()` switches it off, and the variable
 * `WRIT_POWER_GUARD=off` keeps it off. It does not affect code outside of tools.
 *
 * It detects honest mistakes and is not an isolation. It does not see functions that were taken before it was switched on (except names imported from
 * `node:` modules), timers and connections that were made when the tool was imported, native code, and other threads.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { powerGuard } from "writ/testing";
 *
 * assert.deepEqual(powerGuard().found, []); // at the end of a test: nothing was used that was not declared
 * ```
 */
export function powerGuard(): PowerGuard {
  return guard;
}

/** Replaces the functions of one target; returns the functions that restore them. */
function patch({ holder, names, ...use }: Target): (() => void)[] {
  return names.flatMap((name) => {
    const before = Object.getOwnPropertyDescriptor(holder, name);
    const original: unknown = before === undefined ? undefined : Reflect.get(holder, name);
    if (before?.configurable !== true || !isCallable(original)) return [];
    const value = guarded(original, { ...use, power: `${use.power} (${name})` });
    const { enumerable } = before;
    Object.defineProperty(holder, name, { value, enumerable, configurable: true, writable: true });
    return [() => Object.defineProperty(holder, name, before)];
  });
}

type Callable = (...args: unknown[]) => unknown;
type Use = Omit<Target, "holder" | "names">;

function isCallable(value: unknown): value is Callable {
  return typeof value === "function";
}

/** The same function, which first checks its caller. It keeps all properties. */
function guarded(original: Callable, use: Use): Callable {
  function apply(target: Callable, self: unknown, args: unknown[]): unknown {
    const error = complaint(use, apply);
    if (error === undefined) return Reflect.apply(target, self, args);
    if (use.givesPromise === true) return Promise.reject(error);
    throw error;
  }
  function construct(target: Callable, args: unknown[], newTarget: Callable): object {
    const error = complaint(use, construct);
    if (error !== undefined) throw error;
    return Reflect.construct(target, args, newTarget);
  }
  return new Proxy(original, { apply, construct });
}

/** @throws WritError `power-undeclared` */
function checkVariable(name: string | symbol, trap: (...args: never[]) => unknown): void {
  if (typeof name === "symbol" || harmless.test(name)) return;
  const power = `the environment (${name})`;
  const error = complaint({ power, handle: "env", isUsedByNode: true }, trap);
  if (error !== undefined) throw error;
}

function getVariable(target: NodeJS.ProcessEnv, name: string | symbol): unknown {
  checkVariable(name, getVariable);
  return Reflect.get(target, name);
}

function hasVariable(target: NodeJS.ProcessEnv, name: string | symbol): boolean {
  checkVariable(name, hasVariable);
  return Reflect.has(target, name);
}

function listVariables(target: NodeJS.ProcessEnv): (string | symbol)[] {
  checkVariable("all variables", listVariables);
  return Reflect.ownKeys(target);
}

/** Sets a variable on the environment itself: set through an heir, Node refuses to change an existing variable. */
function setVariable(target: NodeJS.ProcessEnv, name: string | symbol, value: unknown): boolean {
  return Reflect.set(target, name, value);
}

function patchEnvironment(): () => void {
  const before = process.env;
  process.env = new Proxy(before, {
    get: getVariable,
    has: hasVariable,
    set: setVariable,
    ownKeys: listVariables,
  });
  return () => {
    process.env = before;
  };
}

/** The error for a use of a power by a tool; undefined for a use that is not the tool's own. */
function complaint(
  { power, handle, isUsedByNode = false }: Use,
  trap: (...args: never[]) => unknown,
): WritError | undefined {
  const scope = current();
  if (scope === undefined || scope.isHandle === true) return undefined;
  const caller = callerOf(trap);
  if (caller !== undefined && (isBystander(caller) || (isUsedByNode && isNode(caller)))) return undefined;
  const { tool, callId } = scope;
  found.push({ tool, callId, power });
  return new WritError("power-undeclared", { tool, power, handle });
}

/** Switches the guard on, unless the program disabled it. */
export function startPowerGuard(): void {
  if (process.env["WRIT_POWER_GUARD"] !== "off") guard.on();
}

/** Functions of Node that reach the world. */
interface Target {
  /** The object that holds them; each is replaced there. */
  readonly holder: object;
  readonly names: readonly string[];
  /** The name of the power in the message. */
  readonly power: string;
  /** The handle to take instead. */
  readonly handle: string;
  /** True if Node calls them for itself too, which is not a use by the tool. */
  readonly isUsedByNode?: boolean;
  /** True if they fail by a rejected promise, and throw nothing. */
  readonly givesPromise?: boolean;
}

/** The functions of `node:fs` that take a path. Functions on an open file need one of these first. */
const fileNames: readonly string[] = [
  "access appendFile chmod chown copyFile cp createReadStream createWriteStream exists glob lchmod lchown link",
  "lstat lutimes mkdir mkdtemp open openAsBlob opendir readFile readdir readlink ReadStream realpath rename rm",
  "rmdir stat statfs symlink truncate unlink utimes watch watchFile writeFile WriteStream",
].flatMap((line) => line.split(" "));
const files = { power: "the file system", handle: "fs", isUsedByNode: true } as const;
const network = { power: "the network", handle: "fetch" } as const;
const programs = { power: "programs", handle: "exec" } as const;
const resolvers = Object.keys(dns).filter((name) => /^(?:lookup|resolve|reverse|Resolver)/.test(name));

/** Everything that the guard replaces. Other network code, like WebSocket, ends in one of these. */
const targets: readonly Target[] = [
  { holder: globalThis, names: ["fetch"], ...network, givesPromise: true },
  { holder: http, names: ["request", "get"], ...network },
  { holder: https, names: ["request", "get"], ...network },
  { holder: net, names: ["connect", "createConnection"], ...network },
  { holder: net.Socket.prototype, names: ["connect"], ...network },
  { holder: tls, names: ["connect"], ...network },
  { holder: dgram.Socket.prototype, names: ["bind", "connect", "send"], ...network },
  { holder: dns, names: resolvers, ...network },
  { holder: dns.promises, names: resolvers, ...network, givesPromise: true },
  { holder: fs, names: fileNames.flatMap((name) => [name, `${name}Sync`]), ...files },
  { holder: fs.promises, names: fileNames, ...files, givesPromise: true },
  { holder: fs.realpath, names: ["native"], ...files },
  { holder: fs.realpathSync, names: ["native"], ...files },
  {
    holder: childProcess,
    names: ["spawn", "exec", "execFile", "fork", "spawnSync", "execSync", "execFileSync"],
    ...programs,
  },
  { holder: childProcess.ChildProcess.prototype, names: ["spawn"], ...programs },
  { holder: workerThreads, names: ["Worker"], power: "threads", handle: "exec" },
];

/** Test runners and their loaders, which read files and variables while the code of a test runs. */
const runners = /\/node_modules\/(?:vitest|@vitest|vite|vite-node|tinypool|tsx|jest[^/]*|mocha)\//;

/** The folder of writ's own code, as source or as installed. */
const ownFolder = /^.*\/(?:src|dist)\//.exec(import.meta.url)?.[0] ?? import.meta.url;

/** The file of the caller of a function of Node; undefined if it cannot be determined. */
function callerOf(calledFunction: (...args: never[]) => unknown): string | undefined {
  const { stackTraceLimit } = Error;
  const before = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_error, sites) => sites[0]?.getFileName();
    const holder: { stack?: unknown } = {};
    Error.captureStackTrace(holder, calledFunction);
    return typeof holder.stack === "string" ? holder.stack : undefined;
  } finally {
    if (before === undefined) Reflect.deleteProperty(Error, "prepareStackTrace");
    else Object.defineProperty(Error, "prepareStackTrace", before);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** True for Node's own modules, like its module loader. */
function isNode(caller: string): boolean {
  return caller.startsWith("node:");
}

/**
 * True for code that is not a tool, though it may work while one runs: writ itself, and the runner of the
 * tests.
 */
function isBystander(caller: string): boolean {
  const written = caller.replaceAll("\\", "/").replace(/^[A-Za-z]:/, "/$&");
  const path = written.startsWith("/") ? `file://${written}` : written;
  return path.startsWith(ownFolder) || runners.test(path);
}
