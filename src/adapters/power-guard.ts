import { syncBuiltinESMExports } from "node:module";
import { WritError } from "../error/writ-error.ts";
import { current } from "./capability/lifetime.ts";
import { callerOf, isBystander, isNode } from "./power-guard-caller.ts";
import { type Target, targets } from "./power-guard-targets.ts";

/** A use of a power by a tool that did not take it from its context. */
export interface UndeclaredPower {
  readonly tool: string;
  readonly callId: string;
  /** `the network (fetch)`; of a variable its name, never its value. */
  readonly power: string;
}

/** The detector of tools that use powers which they did not declare. There is one in a process. */
export interface PowerGuard {
  readonly isOn: boolean;
  /** Uses found since the guard was switched on, also those whose error the tool caught. */
  readonly found: readonly UndeclaredPower[];
  /** Puts the guard before Node's functions, and forgets what was found. */
  readonly on: () => void;
  /** Gives Node's functions back. */
  readonly off: () => void;
}

/** Variables that libraries look at to see where they are; they say nothing that a tool could take. */
const harmless =
  /^(?:NODE_ENV|NODE_DEBUG|DEBUG|NO_COLOR|FORCE_COLOR|COLORTERM|TERM|CI|TZ|LANG|LC_.*|VITEST.*|JEST.*|TEST|toJSON)$/;

// Register: what was found since the guard stands, and how to take it away.
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
 * The guard that finds tools which use the network, files, programs or variables directly and not by the handles of their context: such a use throws
 * `power-undeclared` where it happens. Importing `writ/testing` switches it on; `powerGuard().off()` switches it off, and the variable
 * `WRIT_POWER_GUARD=off` keeps it off. Code outside of tools is not touched by it.
 *
 * It is a detector of honest mistakes, no isolation: it does not see functions that were taken before it was switched on (with names imported from
 * `node:` modules it does), timers and connections that were made when the tool was imported, native code, and other threads.
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

/** Replaces the functions of one target; gives back what puts them back. */
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

/** The same function, which looks first who calls. All its properties stay. */
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

/** Sets a variable on the environment itself: asked to set one of its heirs, Node refuses to change a variable that is there. */
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

/** The error for a use of a power by a tool; undefined when it is none of a tool's own doing. */
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

/** Switches the guard on, where a program did not say that it wants none. */
export function startPowerGuard(): void {
  if (process.env["WRIT_POWER_GUARD"] !== "off") guard.on();
}
