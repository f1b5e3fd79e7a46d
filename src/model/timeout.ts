import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { asError, interruptBy, untilStopped } from "../util/interrupt.ts";
import type { Delta, Model, ModelRequest, StreamOptions } from "./model.ts";

/** The longest silences of a model, in milliseconds. Default: as its adapter and the run's time permit. */
export interface ModelTimeout {
  /** Before the first piece of a reply: a model takes its time to load, or to read a long prompt. */
  readonly firstChunkMs?: number;
  /** Between two pieces of a reply. */
  readonly chunkMs?: number;
}

/** A model whose requests are given up after too long a silence. The error is retryable. */
export function timed(model: Model, timeout: ModelTimeout, host: Pick<Host, "timer">): Model {
  const { id, features, retries } = model;
  return {
    id,
    features,
    ...(retries === undefined ? {} : { retries }),
    stream: (request, options) => timedReply({ model, timeout, host }, request, options),
  };
}

interface TimedModel {
  readonly model: Model;
  readonly timeout: ModelTimeout;
  readonly host: Pick<Host, "timer">;
}

async function* timedReply(
  { model, timeout, host }: TimedModel,
  request: ModelRequest,
  { signal }: StreamOptions,
): AsyncGenerator<Delta, void> {
  const { stop, unlink } = interruptBy(signal);
  const deltas = model.stream(request, stop)[Symbol.asyncIterator]();
  let field: keyof ModelTimeout = "firstChunkMs";
  try {
    for (;;) {
      const limit = timeout[field];
      const late = { model: model.id, field, limit: limit ?? 0 };
      const giveUp = (): void => stop.stop(new WritError("model-timeout", late));
      const stopTimer = limit === undefined ? undefined : host.timer(limit, giveUp);
      const next = await untilStopped(deltas.next(), stop);
      stopTimer?.();
      if (next === "stopped") throw asError(stop.reason);
      if (next.done === true) return;
      yield next.value;
      field = "chunkMs";
    }
  } finally {
    unlink();
    deltas.return?.().catch(() => undefined); // a hanging iteration may never end
  }
}
