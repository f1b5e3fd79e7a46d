import type { Delta, StreamOptions } from "../../model/model.ts";
import { abortErrorOf } from "./abort-error.ts";

/** A request to a server: how it is sent, and what is told of a fault. */
export interface StoppableRequest {
  /** Sends the request. The signal it is given stops all that it began. */
  readonly open: (stop: AbortSignal) => Promise<AsyncIterable<Delta>>;
  readonly errorOf: (thrown: unknown) => Promise<Error>;
}

/**
 * The deltas of a reply. An abort ends them with its reason, whatever the connection throws then; and a reader that leaves stops the request.
 */
export async function* stoppable(
  { open, errorOf }: StoppableRequest,
  { signal }: StreamOptions,
): AsyncGenerator<Delta, void> {
  if (signal.aborted) throw abortErrorOf(signal);
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    for await (const delta of await open(stop.signal)) {
      signal.throwIfAborted(); // what came before the abort and was not read yet
      yield delta;
    }
  } catch (error) {
    if (signal.aborted) throw abortErrorOf(signal);
    throw await errorOf(error);
  } finally {
    signal.removeEventListener("abort", abort);
    stop.abort();
  }
}
