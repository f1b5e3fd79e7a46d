import type { Delta, StreamOptions } from "../../model/model.ts";
import { untilAborted } from "../../util/interrupt.ts";
import { RefusedRequest } from "./http-reply.ts";
import { kindOf } from "./fault-kind.ts";
import type { ProviderFault } from "./provider-fault.ts";
import { errorWithoutKeys, type KeyScrub } from "./without-keys.ts";

/** A request to a server, with the function that sends it and the one that describes a fault. */
export interface StoppableRequest {
  /** Sends the request. The given signal stops everything that it began. */
  readonly open: (stop: AbortSignal) => Promise<AsyncIterable<Delta>>;
  readonly errorOf: (thrown: unknown) => Promise<Error>;
  readonly scrub: KeyScrub;
}

/**
 * The deltas of a reply. An abort ends them with its reason, whatever the connection throws then; a reader that leaves stops the request.
 */
export async function* stoppable(
  { open, errorOf, scrub }: StoppableRequest,
  { signal }: StreamOptions,
): AsyncGenerator<Delta, void> {
  if (signal.aborted) throw abortErrorOf(signal);
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    for await (const delta of await open(stop.signal)) {
      signal.throwIfAborted(); // deltas that came before the abort and were not read yet
      yield delta;
    }
  } catch (error) {
    if (signal.aborted) throw abortErrorOf(signal);
    const mistake = error instanceof RefusedRequest ? mistakeOf(error.fault, scrub) : undefined;
    if (mistake === undefined) throw errorWithoutKeys(await errorOf(error), scrub);
    yield mistake;
  } finally {
    signal.removeEventListener("abort", abort);
    stop.abort();
  }
}

/** The end of a reply for a call that the provider could not read, which is a mistake of the model. */
export function mistakeOf(fault: ProviderFault, scrub: KeyScrub): Delta | undefined {
  const { message, written } = fault;
  if (kindOf(fault) !== "mistake") return undefined;
  return {
    type: "end",
    finishReason: "error",
    unreadable: { reason: scrub(message), ...(written !== undefined && { written: scrub(written) }) },
  };
}

/** The value of work, or the abort, because not every provider heeds the signal. */
export function orAborted<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return untilAborted(Promise.resolve(work), signal, () => abortErrorOf(signal));
}

/** The error of a stream whose signal is aborted: the signal's reason, or an error that names it. */
export function abortErrorOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error
    ? reason
    : new DOMException(`the request was aborted: ${String(reason)}`, "AbortError");
}

/** A stream whose code is loaded when it is first read: a program imports the adapters of all providers, but asks only one. */
export async function* whenAsked(open: () => Promise<AsyncIterable<Delta>>): AsyncGenerator<Delta, void> {
  yield* await open();
}
