import { AsyncLocalStorage } from "node:async_hooks";
import { isWritError, messageOf } from "../../error/writ-error.ts";
import { withoutSecrets } from "../../run/secrets.ts";
import { isJsonList, type Json, type JsonObject } from "../../util/json.ts";
import { nodePowers } from "../capability/node-powers.ts";
import { scrubBytes } from "../capability/secrets.ts";
import { type AnswerRoom, answerRoom } from "./answer-room.ts";
import { askHandle, askInstantly, type GivenHandles, type HandleRequest, instantHandles } from "./broker.ts";
import type { ToCellAnswer } from "./child/messages.ts";
import type { LaunchOptions } from "./launch.ts";
import { type Link, openLink } from "./link.ts";

/**
 * Runs work outside of any call: a process that later calls use too must not carry the scope of the first call, nor count as a power that
 * its tool uses.
 */
export const atRest: <Value>(work: () => Value) => Value = AsyncLocalStorage.snapshot();

/** One call, as a cell carries it out. */
export interface CellCall {
  readonly args: Json;
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly handles: GivenHandles;
  readonly progress: (value: Json) => void;
}

/** A process that holds one module, and carries out one call at a time. */
export interface Cell {
  /** False once the process has ended, or is about to: after {@link abort}, or because it broke a rule. */
  readonly isUsable: () => boolean;
  /** The memory that Node had reserved before the module was loaded, in bytes; 0 if it is unknown. */
  readonly dataBytes: number;
  /**
   * Throws the error of the module's function (only its message), the original error of a handle that it did not catch, and `CellError` if the
   * process ends or writes something forbidden. The process is ended in the last case.
   */
  run(call: CellCall): Promise<Json>;
  /** Tells the current call that it is over; the process is ended after a moment. */
  abort(reason: string): void;
  kill(): void;
  /** With true, the process keeps the program running. */
  hold(isHeld: boolean): void;
}

export interface CellOptions extends LaunchOptions {
  readonly export: string;
  /** The names with which its code may ask. */
  readonly handles: readonly string[];
}

const startMs = 20_000;
const graceMs = 100;
/** The most requests of a call that may wait at once. */
const maxAsks = 64;

/** The call that a cell works on. */
interface Work extends CellCall {
  readonly call: number;
  /** Runs work as the call's own: messages of the process count as sent by the starter of the call. */
  readonly inside: <Value>(work: () => Value) => Value;
  readonly resolve: (value: Json) => void;
  readonly reject: (error: unknown) => void;
  readonly asks: Map<number, AbortController>;
  readonly room: AnswerRoom;
  /** The errors of handles, by request. */
  readonly failures: Map<number, unknown>;
}

/** The state of a cell. */
interface State {
  readonly link: Link;
  /** The names with which its code may ask. */
  readonly allowed: ReadonlySet<string>;
  work: Work | undefined;
}

/** Starts a cell and loads its module. Rejects with `CellError` if that fails. */
export function startCell(options: CellOptions): Promise<Cell> {
  return atRest(() => start(options));
}

async function start(options: CellOptions): Promise<Cell> {
  const { promise: ready, resolve: onReady, reject: onRefused } = Promise.withResolvers<number>();
  const link = openLink(options, {
    onMessage(message, bytes) {
      if (message["type"] === "ready") onReady(asNumber(message["dataBytes"]));
      else if (message["type"] === "refused")
        link.end(`its module cannot be loaded: ${cut(message["message"])}`);
      else onMessage(state, message, bytes);
    },
    onInstant: (message, bytes) => onInstant(state, message, bytes),
    onEnd(error) {
      onRefused(error);
      settle(state)?.reject(error);
    },
  });
  const state: State = { link, allowed: new Set(options.handles), work: undefined };
  const patience = setTimeout(() => link.end(`its module was not loaded after ${startMs} ms`), startMs);
  link.send({ type: "load", module: link.module, export: options.export, handles: options.handles });
  const dataBytes = await ready.finally(() => clearTimeout(patience));
  let calls = 0;
  let isAborted = false;
  return {
    dataBytes,
    isUsable: () => link.ended() === undefined && !isAborted,
    run(call) {
      const ended = link.ended();
      if (ended !== undefined) return Promise.reject(ended);
      const { promise, resolve, reject } = Promise.withResolvers<Json>();
      calls += 1;
      state.work = {
        ...call,
        call: calls,
        inside: AsyncLocalStorage.snapshot(),
        resolve,
        reject,
        asks: new Map(),
        room: answerRoom(),
        failures: new Map(),
      };
      link.renew();
      const { args, callId, idempotencyKey } = call;
      link.send({ type: "call", call: calls, args: told(args), callId, idempotencyKey });
      return promise;
    },
    abort(reason) {
      isAborted = true;
      if (state.work !== undefined) link.send({ type: "abort", call: state.work.call, reason });
      setTimeout(() => link.end(reason), graceMs).unref();
    },
    kill: () => link.end("it was ended"),
    hold: (isHeld) => link.hold(isHeld),
  };
}

/** Takes the work off the cell, with everything that it had asked for. */
function settle(state: State): Work | undefined {
  const done = state.work;
  state.work = undefined;
  for (const asked of done?.asks.values() ?? []) asked.abort(new Error("its call is over"));
  return done;
}

/** Handles a message. Messages of a call that is over, or never was, are ignored. */
function onMessage(state: State, message: JsonObject, bytes: Uint8Array): void {
  const { link, work } = state;
  if (work === undefined || message["call"] !== work.call) return;
  switch (asText(message["type"])) {
    case "result":
      return settle(state)?.resolve(message["value"] ?? null);
    case "failure":
      return onFailure(state, message);
    case "progress":
      return work.inside(() => work.progress(message["value"] ?? null));
    case "ask":
      return onAsk(state, message, bytes);
    case "forget":
      return work.asks
        .get(asNumber(message["request"]))
        ?.abort(new Error("the tool does not wait for it any more"));
    default:
      return link.end("it wrote a message of no known type");
  }
}

/** Throws the original error of a handle again; of any other error only the message is used. */
function onFailure(state: State, { message, request }: JsonObject): void {
  const done = settle(state);
  const known = typeof request === "number" && done?.failures.has(request) === true;
  done?.reject(known ? done.failures.get(request) : new Error(cut(message)));
}

interface Asked extends Omit<HandleRequest, "signal" | "room"> {
  readonly request: number;
}

function readAsk({ request, handle, args }: JsonObject, bytes: Uint8Array): Asked | undefined {
  return typeof request === "number" && typeof handle === "string" && isJsonList(args)
    ? { request, handle, args, bytes }
    : undefined;
}

function onAsk(state: State, message: JsonObject, bytes: Uint8Array): void {
  const { link, work, allowed } = state;
  const asked = readAsk(message, bytes);
  if (work === undefined || asked === undefined || work.asks.has(asked.request))
    return link.end("it asked for no known thing");
  if (work.asks.size >= maxAsks) return link.end(`it asked for more than ${maxAsks} things at once`);
  const { request } = asked;
  const stop = new AbortController();
  work.asks.set(request, stop);
  const answering = async (): Promise<void> => {
    try {
      if (!allowed.has(asked.handle)) throw undeclared(asked.handle);
      const { value, bytes } = await askHandle(work.handles, {
        ...asked,
        signal: stop.signal,
        room: work.room,
      });
      if (state.work === work)
        link.send({ type: "answer", request, ok: true, value: told(value) }, bytes && scrubBytes(bytes));
    } catch (error) {
      work.failures.set(request, error);
      if (state.work === work) link.send(failedAnswer(request, error));
    } finally {
      work.asks.delete(request);
    }
  };
  work.inside(answering).catch((error: unknown) => link.end(messageOf(error)));
}

function onInstant(state: State, message: JsonObject, bytes: Uint8Array): void {
  const { link, work, allowed } = state;
  const asked = readAsk(message, bytes);
  if (asked === undefined) return link.end("it asked for no known thing");
  const { request, handle } = asked;
  try {
    if (work === undefined || message["call"] !== work.call) throw new Error("its call is over");
    if (!allowed.has(handle) || !instantHandles.has(handle)) throw undeclared(handle);
    const value = told(work.inside(() => askInstantly(work.handles, asked)));
    link.sendInstantly({ type: "answer", request, ok: true, value });
  } catch (error) {
    work?.failures.set(request, error);
    link.sendInstantly(failedAnswer(request, error));
  }
}

function undeclared(handle: string): Error {
  return new Error(`the tool did not declare what "${handle.slice(0, 40)}" needs`);
}

function failedAnswer(request: number, error: unknown): ToCellAnswer {
  const code = isWritError(error) ? { code: error.code } : {};
  return { type: "answer", request, ok: false, message: told(messageOf(error)), ...code };
}

/** Scrubs a value for the process, because code there could spell a secret in a way that is not recognised later. */
function told<Value>(value: Value): Value {
  return withoutSecrets(value, { powers: nodePowers });
}

function cut(message: Json | undefined): string {
  const text = typeof message === "string" ? message : "it said nothing that can be shown";
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text;
}

function asNumber(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
