/** A server-sent event, by the HTML Living Standard, section 9.2. */
export interface Sent {
  readonly event?: string;
  readonly data: string;
  /** The `last-event-id` that a reader sends when it reconnects. */
  readonly id?: string;
}

/** The pause between comments: Bun ends a connection after ten seconds of silence; proxies wait for a minute. */
export const keepAliveMs = 8000;
const encoder = new TextEncoder();

/** The settings of a stream. */
export interface Streaming {
  /** Calls `fire` after a time, unless the returned function is called first. */
  readonly timer: (afterMs: number, fire: () => void) => () => void;
  /** Called once, when the stream has ended, failed, or was left by its reader; with the failure. */
  readonly onEnd: (failure?: unknown) => void;
  /** The last event of a stream that fails; undefined if the stream just ends, and its reader reconnects. */
  readonly failure: (error: unknown) => Sent | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers with a stream of events. It makes the next event when the reader has taken the last, so a slow reader delays only itself. A comment every
 * 8 seconds keeps proxies from closing the connection.
 */
export function eventStream(
  events: AsyncGenerator<Sent, void>,
  { timer, onEnd, failure, headers = {} }: Streaming,
): Response {
  let stopTimer: (() => void) | undefined;
  let isOver = false;
  function over(failure?: unknown): void {
    if (isOver) return;
    isOver = true;
    stopTimer?.();
    onEnd(failure);
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const again = (): void => {
        stopTimer = timer(keepAliveMs, () => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": still there\n\n"));
          again();
        });
      };
      controller.enqueue(encoder.encode(": begins\n\n")); // sends the headers
      again();
    },
    async pull(controller) {
      try {
        const next = await events.next();
        if (isOver) return;
        if (next.done !== true) return controller.enqueue(encoder.encode(lines(next.value)));
        over();
        controller.close();
      } catch (error) {
        if (isOver) return;
        over(error);
        const last = failure(error);
        if (last !== undefined) controller.enqueue(encoder.encode(lines(last)));
        controller.close();
      }
    },
    cancel() {
      over();
      events.return().catch(() => undefined); // nobody is left who could be told
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      ...headers,
    },
  });
}

function lines({ event, id, data }: Sent): string {
  const text = data.split(/\r\n|[\r\n]/).map((line) => `data: ${line}\n`);
  const head = `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}`;
  return `${head}${text.join("")}\n`;
}
