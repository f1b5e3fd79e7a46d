/**
 * The module of the cells that run code written by a model. Each piece of code runs in a QuickJS of its own, an interpreter with its own heap, which
 * has no access to Node. Beside computing, the code may only call functions that the parent answers.
 */
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  RELEASE_SYNC,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSWASMModule,
} from "quickjs-emscripten";

/** A piece of code, with its bounds. */
export interface CodeJob {
  readonly code: string;
  readonly input: unknown;
  /** The names of the functions that the code can call. */
  readonly functions: readonly string[];
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly resultBytes: number;
}

/** The value as JSON, or the reason why there is none. */
export type CodeOutcome = { readonly json: string } | { readonly reason: string };

/** The functions in the cell's context for code. */
interface CodeContext {
  readonly functions?: Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
}

const stackBytes = 256_000;

/** An interpreter, with all its memory. */
interface Engine {
  readonly module: QuickJSWASMModule;
  readonly isFull: () => boolean;
}

declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => {
    readonly buffer: ArrayBuffer;
  };
};

const pageBytes = 65_536;
/** The least factor by which memory grows. */
const leastGrowth = 1.06;
/** The number of pages that the interpreter was built to begin with. */
const firstPages = 256;

/** Makes an interpreter. Its own limit of memory does not work in this build: memory that cannot grow bounds it. */
async function newEngine(memoryBytes: number): Promise<Engine> {
  const maximum = Math.max(firstPages, Math.floor(memoryBytes / pageBytes));
  const wasmMemory = new WebAssembly.Memory({ initial: firstPages, maximum });
  const module = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory }));
  return { module, isFull: () => wasmMemory.buffer.byteLength * leastGrowth >= maximum * pageBytes };
}

// Depends on: the memory of the job before, which is that of every job: a process is started for one tool.
let next: Promise<Engine> | undefined;

/** Runs one piece of code. Each piece gets an unused interpreter: the next one is made while the program is idle. */
export async function execute(job: CodeJob, { functions = {} }: CodeContext): Promise<CodeOutcome> {
  const taken = next ?? newEngine(job.memoryBytes);
  next = undefined;
  const engine = await taken;
  try {
    return await new Promise<CodeOutcome>((resolve) => {
      runCode(engine, { job, functions, resolve });
    });
  } finally {
    setImmediate(() => {
      next ??= newEngine(job.memoryBytes);
    });
  }
}

interface Running {
  readonly job: CodeJob;
  readonly functions: Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
  readonly resolve: (outcome: CodeOutcome) => void;
}

function runCode(engine: Engine, { job, functions, resolve }: Running): void {
  const deadline = performance.now() + job.timeoutMs;
  const isLate = (): boolean => performance.now() > deadline;
  const context = engine.module.newContext();
  const { runtime } = context;
  runtime.setMaxStackSize(stackBytes);
  runtime.setInterruptHandler(isLate);
  let pending = 0;
  const timer = setTimeout(() => end({ reason: tooLong(job) }), job.timeoutMs);
  let hasEnded = false;

  function end(outcome: CodeOutcome): void {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(timer);
    resolve(outcome);
  }

  /** Lets the code go on after something it waited for. */
  function goOn(): void {
    if (hasEnded) return;
    bounded(() => runtime.executePendingJobs());
    if (isLate()) end({ reason: tooLong(job) });
    else if (pending === 0) end({ reason: engine.isFull() ? tooMuch(job) : waitsForNothing });
  }

  /**
   * Ends the code, but not the cell, for work that the interpreter cannot do, like reading a value with a hundred
   * thousand levels.
   */
  function bounded(work: () => void): void {
    try {
      work();
    } catch (error) {
      const isDeep = error instanceof RangeError;
      end({ reason: isDeep ? "The code nests too deeply." : "The code broke its interpreter." });
    }
  }

  const ask = context.newFunction("ask", (name, args) => {
    const deferred = context.newPromise();
    pending += 1;
    void answer(functions, context.getString(name), context.getString(args)).then((text) => {
      pending -= 1;
      if (hasEnded) return;
      context.newString(text).consume((handle) => deferred.resolve(handle));
      goOn();
    });
    return deferred.handle;
  });
  const done = context.newFunction("done", (isValue, text) => {
    const said = context.getString(text);
    end(context.dump(isValue) === true ? { json: said } : { reason: explained(said) });
  });
  const about = context.newString(JSON.stringify([job.functions, job.input ?? null, job.resultBytes]));

  /** A clearer text for the interpreter's messages about its limits. If no memory is left, it has no message. */
  function explained(words: string): string {
    if (isLate() || words === "InternalError: interrupted") return tooLong(job);
    const isSpeechless = words === "" || words === "null";
    if (words === "InternalError: out of memory" || (isSpeechless && engine.isFull())) return tooMuch(job);
    if (words === "InternalError: stack overflow") return "The code calls itself too deeply.";
    return words.length > 2_000 ? `${words.slice(0, 2_000)}…` : words;
  }

  /** The value of a step; undefined if it threw, which ends the work. */
  function valueOf(result: ReturnType<QuickJSContext["evalCode"]>): QuickJSHandle | undefined {
    if (result.error === undefined) return result.value;
    end({ reason: explained(wordsOf(context.dump(result.error))) });
    return undefined;
  }

  bounded(() => {
    const prepare = valueOf(context.evalCode(preparation, "writ"));
    const finish = prepare && valueOf(context.callFunction(prepare, context.undefined, ask, done, about));
    const value = finish && valueOf(context.evalCode(asProgram(context, job.code), "code.js", asyncScript));
    if (finish && value && valueOf(context.callFunction(finish, context.undefined, value))) goOn();
  });
}

const waitsForNothing = "The code waits for something that never comes.";

function tooMuch({ memoryBytes }: CodeJob): string {
  return `The code used more than ${memoryBytes} bytes of memory.`;
}

function tooLong({ timeoutMs }: CodeJob): string {
  return `The code did not end within ${timeoutMs} ms.`;
}

/** The flag for a script that may wait (`JS_EVAL_FLAG_ASYNC` of QuickJS): it returns a promise of `{ value }`. */
const asyncScript = 0x80;
const compileOnly = 0x20;

/** The program for code, which is an expression, a script whose last expression is its value, or the body of an async function that returns its value. */
function asProgram(context: QuickJSContext, code: string): string {
  const body = `(async () => {${code}\n})()`;
  const expression = `(async () => (${code.trim().replace(/;+$/, "")}\n))()`;
  return [expression, code].find((program) => compiles(context, program)) ?? body;
}

function compiles(context: QuickJSContext, program: string): boolean {
  const compiled = context.evalCode(program, "code.js", asyncScript | compileOnly);
  compiled.dispose();
  return compiled.error === undefined;
}

/** Calls a function for code. The answer is `[true, value]`, or `[false, message]`. */
async function answer(functions: Running["functions"], name: string, args: string): Promise<string> {
  try {
    const asked = functions[name];
    if (asked === undefined) throw new Error(`there is no function ${name}`);
    return JSON.stringify([true, (await asked(...JSON.parse(args))) ?? null]);
  } catch (error) {
    return JSON.stringify([false, error instanceof Error ? error.message : String(error)]);
  }
}

function wordsOf(thrown: unknown): string {
  const { name, message } = (typeof thrown === "object" && thrown !== null ? thrown : {}) as {
    readonly name?: unknown;
    readonly message?: unknown;
  };
  if (typeof message === "string") return `${String(name)}: ${message}`;
  return typeof thrown === "string" ? thrown : JSON.stringify(thrown);
}

/**
 * Runs inside the interpreter before the code, with the functions that the code may not reach: it leaves only functions that take and return JSON. The code
 * may change its built-in objects, but not the ones that are kept here.
 */
const preparation = `(function (ask, done, about) {
  "use strict";
  const { parse, stringify } = JSON;
  const { String: text, Error: error, Map: map, Set: set, Object: { defineProperty } } = globalThis;
  const [names, input, resultBytes] = parse(about);
  const shown = (key, value) => {
    if (typeof value === "bigint") return text(value);
    const place = key === "" ? "the value" : text(key);
    if (typeof value === "number" && value - value !== 0) throw new error(place + " is " + value + ", which JSON cannot say");
    if (value instanceof map || value instanceof set) throw new error(place + " is a Map or Set, of which JSON shows nothing: use [...it]");
    return value;
  };
  for (const name of names)
    defineProperty(globalThis, name, { enumerable: true, value: async (...args) => {
      const [isOk, value] = parse(await ask(name, stringify(args, shown)));
      if (isOk) return value;
      throw new error(value);
    } });
  defineProperty(globalThis, "input", { enumerable: true, writable: true, value: input });
  const words = (thrown) => {
    try {
      if (thrown instanceof error) return thrown.name + ": " + thrown.message;
      const json = typeof thrown === "object" ? stringify(thrown) : "{}";
      return json === "{}" || json === undefined ? text(thrown) : json;
    } catch { return "something was thrown that cannot be shown"; }
  };
  const tell = (value) => {
    const type = typeof value;
    if (value === undefined) return done(true, "null");
    if (type === "function" || type === "symbol")
      return done(false, "The value of the code is a " + type + ": it must be JSON.");
    const json = stringify(value, shown);
    if (json === undefined) return done(false, "The value of the code is no JSON.");
    if (json.length > resultBytes)
      return done(false, "The value of the code is longer than " + resultBytes + " characters of JSON.");
    done(true, json);
  };
  return async (script) => {
    try { tell(await (await script).value); }
    catch (thrown) { done(false, words(thrown)); }
  };
})`;
