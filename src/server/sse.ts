/** A line of a stream of server-sent events, by the HTML Living Standard, section 9.2. */
export interface Sent {
  readonly event?: string;
  readonly data: string;
  /** The `last-event-id` that a reader sends who comes back. */
  readonly id?: string;
}

/** Less than the ten seconds after which Bun ends a connection on which nothing was sent; proxies give a minute. */
export const keepAliveMs = 8000;
const encoder = new TextEncoder();

/** The settings of a stream. */
export interface Streaming {
  /** Calls `fire` after a time; what it returns takes that back. */
  readonly timer: (afterMs: number, fire: () => void) => () => void;
  /** Called once, when the stream has ended, failed, or was left by its reader; with the failure. */
  readonly onEnd: (failure?: unknown) => void;
  /** The last event where the events fail; undefined where the stream just ends, and its reader comes back. */
  readonly failure: (error: unknown) => Sent | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers with a stream of events. The next one is made when the reader has taken the last: a slow reader holds up itself alone. A comment every
 * 8 seconds keeps what stands between them from giving up.
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
      events.return().catch(() => undefined); // nobody is there who could be told
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
