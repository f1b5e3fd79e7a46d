import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { AgentEvent } from "../event/event.ts";
import { patienceUntil } from "./patience.ts";
import { errorOf, ServerError, toldIn } from "./server-error.ts";

/** The means of a reader of events. */
export interface Reading {
  /** Makes the request for the events after the known ones: `known` has the last `seq` of each run. */
  readonly requestOf: (known: ReadonlyMap<string, number>, signal: AbortSignal) => Promise<Request>;
  readonly send: (request: Request) => Promise<Response>;
  /** The run that is read: reading ends with it. */
  readonly id: string;
  readonly after: Readonly<Record<string, number>>;
  readonly signal: AbortSignal;
}

/** The silence after which a server counts as gone. It sends something every 8 seconds. */
const silentMs = 45_000;

/**
 * Reads the events of a run until it ends. It asks again after a broken connection, a restart of the server and an answer that the server is busy, and goes
 * on after the last fact received: each fact comes once. A first request to which no server answers is not repeated.
 *
 * @throws ServerError if the server refuses, or fails itself twelve times in a row; for the first request the error of `fetch`, and TypeError for
 * an answer that is not a stream; the error of `requestOf`; the reason of the signal
 */
export async function* readEvents({
  requestOf,
  send,
  id,
  after,
  signal,
}: Reading): AsyncGenerator<AgentEvent, void> {
  const known = new Map(Object.entries(after));
  const patience = patienceUntil(signal);
  let isFirst = true;
  for (;;) {
    const reading = new Connection(send, signal);
    const request = await requestOf(known, reading.signal);
    let failure: unknown;
    try {
      for await (const event of reading.events(request)) {
        isFirst = false;
        patience.renew();
        const run = event.parentRunId === undefined ? id : event.runId;
        known.set(run, Math.max(known.get(run) ?? 0, event.seq));
        yield event;
        if (event.type === "run-end" && run === id) return;
      }
      if (reading.hasNoMore) return;
    } catch (error) {
      signal.throwIfAborted();
      if (isFirst && !(error instanceof ServerError)) throw error;
      failure = error;
    }
    isFirst = false;
    await patience.wait(failure);
  }
}

/** One connection. It ends when the server closes it, or has been silent for too long. */
class Connection {
  /** True if the server said that no more events come: the run has ended, and its reader knew. */
  hasNoMore = false;
  /** Aborted when the reader has left, or the server is silent. */
  readonly signal: AbortSignal;
  private readonly silence = new AbortController();
  private readonly send: Reading["send"];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: Reading["send"], signal: AbortSignal) {
    this.send = send;
    this.signal = AbortSignal.any([signal, this.silence.signal]);
  }

  /** @throws ServerError; the error of `fetch`; TypeError for an answer that is not a stream; the reason of the signal */
  async *events(request: Request): AsyncGenerator<AgentEvent, void> {
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    const decoder = new TextDecoder();
    try {
      this.heard();
      const response = await this.send(request);
      if (!response.ok) throw await errorOf(response);
      this.hasNoMore = response.status === 204;
      const type = response.headers.get("content-type") ?? "untyped data";
      if (!this.hasNoMore && !/^text\/event-stream\b/i.test(type))
        throw new TypeError(`the server gave no events but ${type}: is the address right?`);
      // Reads chunk by chunk: not every browser iterates over a stream.
      const reader = response.body?.getReader();
      this.signal.addEventListener("abort", () => void reader?.cancel().catch(() => undefined));
      for (;;) {
        const next = await reader?.read();
        if (next?.value === undefined) return;
        this.heard();
        parser.feed(decoder.decode(next.value, { stream: true }));
        for (const message of messages.splice(0)) yield eventOf(message);
      }
    } finally {
      clearTimeout(this.timer);
      this.silence.abort(); // a reader who leaves closes the connection
    }
  }

  private heard(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.silence.abort(), silentMs);
  }
}

/** @throws ServerError for an event that reports a failure */
function eventOf({ event, data }: EventSourceMessage): AgentEvent {
  if (event === "error") {
    const told = toldIn(data);
    throw new ServerError(told.status ?? 500, told);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server wrote it
  return JSON.parse(data) as AgentEvent;
}
