/**
 * The program of a cell: it loads one module, and runs its function when the parent asks for it. It starts with only two pipes, and holds
 * nothing that the module may not have: whatever the module does to it, the parent trusts only what it checks itself.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { encodeFrame, frameReader, type Frame } from "./frames.ts";
import { type Answer, type Ask, askOverPipe, makeHandles } from "./handles.ts";
import { type FromCell, pipeFd, type ToCell, type ToCellAnswer } from "./messages.ts";

type Execute = (args: unknown, context: unknown) => unknown;
type Call = Extract<ToCell, { type: "call" }>;

/** The failure of a handle's answer, by which the parent finds the original error. */
class HandleError extends Error {
  readonly request: number;
  readonly code: string | undefined;
  constructor({ request, message, code }: Extract<ToCellAnswer, { ok: false }>) {
    super(message);
    this.request = request;
    this.code = code;
  }
}

/** The number of the call that code belongs to. */
const calls = new AsyncLocalStorage<number>();
const pipe = new Socket({ fd: pipeFd, readable: true, writable: true });
// Register: the requests that wait for the parent, and the current call of this process.
const waiting = new Map<number, (answer: ToCellAnswer, bytes: Uint8Array) => void>();
let requests = 0;
let current: { readonly call: number; readonly abort: AbortController } | undefined;
let execute: Execute | undefined;
let handleNames: readonly string[] = [];

function send(message: FromCell, bytes?: Uint8Array): void {
  pipe.write(encodeFrame(message, bytes));
}

function onFrame({ text, bytes }: Frame): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parent made it, which a cell trusts
  const message = JSON.parse(text) as ToCell;
  switch (message.type) {
    case "load":
      void load(message);
      break;
    case "call":
      void run(message);
      break;
    case "abort":
      if (current?.call === message.call) current.abort.abort(new Error(message.reason));
      break;
    case "answer":
      waiting.get(message.request)?.(message, bytes);
      break;
    default:
      message satisfies never;
  }
}

async function load({ module, export: name, handles }: Extract<ToCell, { type: "load" }>): Promise<void> {
  const dataBytes = dataSize();
  try {
    const { [name]: exported }: Readonly<Record<string, unknown>> = await import(module);
    if (typeof exported !== "function") throw new Error(`it exports no function "${name}"`);
    execute = (args, context) => Reflect.apply(exported, undefined, [args, context]);
    handleNames = handles;
    send({ type: "ready", dataBytes });
  } catch (error) {
    send({ type: "refused", message: textOf(error) });
  }
}

function dataSize(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    return Number(/^VmData:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

async function run(call: Call): Promise<void> {
  const abort = new AbortController();
  const mine = { call: call.call, abort };
  current = mine;
  const isOver = (): boolean => current !== mine;
  const context = {
    signal: abort.signal,
    callId: call.callId,
    idempotencyKey: call.idempotencyKey,
    progress: (value: unknown) => {
      if (!isOver()) send({ type: "progress", call: call.call, value });
    },
    ...makeHandles(handleNames, asker(call.call, isOver), (handle, args) => {
      if (isOver()) throw closed(handle);
      const answer = askOverPipe({ type: "ask", call: call.call, request: ++requests, handle, args });
      if (!answer.ok) throw new HandleError(answer);
      return answer.value;
    }),
  };
  try {
    const value = await calls.run(call.call, () => execute?.(call.args, context));
    if (typeof value === "function" || typeof value === "symbol")
      throw new TypeError(`it is a ${typeof value}, which JSON has not`);
    send({ type: "result", call: call.call, value: value ?? null });
  } catch (error) {
    send({ type: "failure", call: call.call, message: textOf(error), ...requestOf(error) });
  } finally {
    if (!isOver()) current = undefined;
  }
}

function asker(call: number, isOver: () => boolean): Ask {
  return async ({ handle, args, bytes, signal }) => {
    if (isOver()) throw closed(handle);
    signal?.throwIfAborted();
    requests += 1;
    const request = requests;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.set(request, (answer, bytes) => {
      if (answer.ok) resolve({ value: answer.value, bytes });
      else reject(new HandleError(answer));
    });
    const onAbort = (): void => {
      send({ type: "forget", call, request });
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      send({ type: "ask", call, request, handle, args }, bytes);
      return await promise;
    } finally {
      waiting.delete(request);
      signal?.removeEventListener("abort", onAbort);
    }
  };
}

function closed(handle: string): Error {
  return Object.assign(new Error(`${handle} was used after its call had ended.`), {
    code: "capability-closed",
  });
}

/** The request whose failure was thrown. The thrown value may be a proxy that fails even when it is read. */
function requestOf(thrown: unknown): { readonly request?: number } {
  try {
    return thrown instanceof HandleError ? { request: thrown.request } : {};
  } catch {
    return {};
  }
}

/** The message of a thrown value. */
function textOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  } catch {
    return "something was thrown that cannot be shown";
  }
}

/** Ends the process by an error that nobody caught, unless a call left it behind that is over: the next call is none of its. */
function onStray(error: unknown): void {
  const call = calls.getStore();
  if (call !== undefined && call !== current?.call) return;
  writeSync(2, (error instanceof Error ? error.stack : undefined) ?? textOf(error));
  process.exit(1);
}

process.on("unhandledRejection", onStray);
process.on("uncaughtException", onStray);
pipe.on("data", frameReader({ maxBytes: Infinity, onFrame, onTooLong: () => process.exit(1) }));
pipe.on("end", () => process.exit(0));
pipe.on("error", () => process.exit(0));
