/** Runners of tests and their loaders, which look at files and variables while the code of a test runs. */
const runners = /\/node_modules\/(?:vitest|@vitest|vite|vite-node|tinypool|tsx|jest[^/]*|mocha)\//;

/** The folder of writ's own code, as source or as it is installed. */
const ownFolder = /^.*\/(?:src|dist)\//.exec(import.meta.url)?.[0] ?? import.meta.url;

/** The file of the caller of a function of Node, or undefined when that cannot be told. */
export function callerOf(calledFunction: (...args: never[]) => unknown): string | undefined {
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

/** Node's own modules, like its module loader. */
export function isNode(caller: string): boolean {
  return caller.startsWith("node:");
}

/**
 * True for code that is not a tool, though it may work while one runs: writ itself, and the runner of the
 * tests.
 */
export function isBystander(caller: string): boolean {
  const path = caller.startsWith("/") ? `file://${caller}` : caller;
  return path.startsWith(ownFolder) || runners.test(path);
}
