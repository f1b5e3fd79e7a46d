import { asSentence } from "../../util/as-sentence.ts";
import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import type { HandleRequest, PowerScope } from "../../tool/power-port.ts";
import { having, misfitText, optional, type Shape } from "../../util/shape.ts";
import { codeOf } from "../../util/thrown.ts";
import { AsyncLocalStorage } from "node:async_hooks";

const scopes = new AsyncLocalStorage<PowerScope | undefined>();

/** Runs work inside a scope, which is kept across `await`, timers and callbacks. */
export const inside: <Value>(scope: PowerScope | undefined, work: () => Value) => Value =
  scopes.run.bind(scopes);

/** Returns the scope that this code runs in. */
export const current: () => PowerScope | undefined = scopes.getStore.bind(scopes);

/** The time in which the handles of one call work. */
export interface Lifetime extends Pick<HandleRequest, "use"> {
  readonly powers: PowerScope["powers"];
  /** Aborted when the call is stopped or has ended. */
  readonly signal: AbortSignal;
  /**
   * Does a handle's work: refuses it after the end, marks it as a handle's own, and stops waiting for it when the call ends or `signal` is aborted.
   *
   * @throws WritError `capability-closed`; the error of the work; the reason of an abort
   */
  run<Value>(
    handle: string,
    work: (signal: AbortSignal) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value>;
  /** The same for synchronous work. */
  runNow<Value>(handle: string, work: () => Value): Value;
  /** The error of work that `signal` stopped: `capability-closed` at the call's end. */
  reasonOf(handle: string, signal: AbortSignal): unknown;
  close(): void;
}

/** The shape of a signal among options. */
export const ownSignal: Shape<unknown> = optional(having("an AbortSignal", "addEventListener"));

/** The signal among the options of a handle, which {@link checkOptions} has yet to check. */
export function signalIn(options: unknown): AbortSignal | undefined {
  const signal: unknown = Object(options).signal;
  return signal instanceof AbortSignal ? signal : undefined;
}

/** Refuses options that are not there, or of another type: code without types would be run without them. @throws WritError `handle-failed` */
export function checkOptions(resource: string, options: unknown, shape: Shape<unknown>): void {
  const fault = misfitText(shape, options);
  if (fault !== undefined) throw handleFailed(resource, asSentence(`its options: ${fault}`));
}

/** Begins the lifetime of the handles of a call. */
export function openLifetime({ scope, use, signal: callSignal }: HandleRequest): Lifetime {
  const end = new AbortController();
  const closed = Symbol("closed");
  const handleScope: PowerScope = Object.freeze({ ...scope, isHandle: true });
  const stop = (): void => end.abort(callSignal.reason);
  if (callSignal.aborted) stop();
  else callSignal.addEventListener("abort", stop, { once: true });

  function reasonOf(handle: string, signal: AbortSignal): unknown {
    return signal.reason === closed
      ? new WritError("capability-closed", { resource: handle })
      : signal.reason;
  }
  function run<Value>(
    handle: string,
    work: (signal: AbortSignal) => Promise<Value>,
    own?: AbortSignal,
  ): Promise<Value> {
    const signal = own === undefined ? end.signal : AbortSignal.any([end.signal, own]);
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(reasonOf(handle, signal));
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      const settle = (): void => signal.removeEventListener("abort", abort);
      inside(handleScope, async () => work(signal)).then(
        (value) => {
          settle();
          resolve(value);
        },
        (error: unknown) => {
          settle();
          reject(signal.aborted ? reasonOf(handle, signal) : error);
        },
      );
    });
  }
  return {
    use,
    powers: scope.powers,
    signal: end.signal,
    run,
    runNow(handle, work) {
      if (end.signal.aborted) throw reasonOf(handle, end.signal);
      return inside(handleScope, work);
    },
    reasonOf,
    close() {
      callSignal.removeEventListener("abort", stop);
      end.abort(closed);
    },
  };
}

/** The error of a handle that could not do its work. */
export function handleFailed(resource: string, reason: string, cause?: unknown): WritError<"handle-failed"> {
  return new WritError("handle-failed", { resource, reason }, { cause });
}

/** Makes `handle-failed` of an error of the machine; an error of writ itself stays as it is. */
export function asHandleFailed(resource: string, thrown: unknown): WritError {
  return isWritError(thrown) ? thrown : handleFailed(resource, wordsOf(thrown), thrown);
}

const words: Readonly<Record<string, string>> = {
  ENOENT: "there is nothing there.",
  ENOTDIR: "a part of the path is no folder.",
  EISDIR: "it is a folder.",
  EACCES: "the system does not permit it.",
  EPERM: "the system does not permit it.",
  ELOOP: "it is a link, and this is not done through links.",
  EEXIST: "something is there already.",
  ENOTEMPTY: "the folder is not empty.",
  ENOSPC: "there is no space left.",
  EMFILE: "this process has too many files open.",
  ENFILE: "the system has too many files open.",
  EROFS: "it cannot be written to.",
  ENXIO: "it is no regular file.",
  ENAMETOOLONG: "the name is too long.",
  ENOTFOUND: "the name is not known.",
  EAI_AGAIN: "the name could not be looked up.",
  ECONNREFUSED: "the connection was refused.",
  ECONNRESET: "the connection was broken off.",
};

function wordsOf(thrown: unknown): string {
  const code = codeOf(thrown);
  return (code === undefined ? undefined : words[code]) ?? (messageOf(thrown) || (code ?? "it failed."));
}
