import type { AddressInfo } from "node:net";
import { serve as listen, type ServerType } from "@hono/node-server";
import { WritError } from "../error/writ-error.ts";

type Answer = (request: Request) => Promise<Response>;

/** A server that listens at a port. */
export interface Listener extends AsyncDisposable {
  readonly address: string;
  /** Answers requests, including those that came before and wait. */
  readonly answer: (fetch: Answer) => void;
  /**
   * Takes no more connections, and resolves when the last has ended. Connections that remain some time after all answers are over (`isOver`) are
   * cut: a client that stops reading would keep the process forever.
   */
  readonly close: (isOver?: Promise<unknown>) => Promise<void>;
}

/** The time that a client has to take the end of an answer. */
const takingMs = 2000;

/** The codes of an address that this machine does not have. */
const notHere: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"]);

/**
 * Listens at a port of an address before there is anything to answer: a command that cannot get its port has opened nothing yet.
 *
 * @throws WritError `option-invalid` for a port or an address that cannot be had
 */
export function listening(port: number, host: string): Promise<Listener> {
  const { promise, resolve, reject } = Promise.withResolvers<Listener>();
  const answering = Promise.withResolvers<Answer>();
  answering.promise.catch(() => undefined); // no request may be waiting
  const fetch: Answer = async (request) => (await answering.promise)(request);
  // A connection without complete headers is ended. The body has a bound of its own, and this one comes after it. Node checks at this interval.
  const serverOptions = { headersTimeout: 10_000, requestTimeout: 45_000, connectionsCheckingInterval: 1000 };
  const server: ServerType = listen({ fetch, port, hostname: host, serverOptions }, (info) => {
    const close: Listener["close"] = (isOver = Promise.resolve()) => {
      answering.reject(new WritError("server-leaving", {}));
      return closed(server, isOver);
    };
    const answer = answering.resolve;
    resolve({ address: addressOf(info, host), answer, close, [Symbol.asyncDispose]: () => close() });
  });
  server.once("error", (error: NodeJS.ErrnoException) => {
    const { code = error.message } = error;
    const reason = code === "EADDRINUSE" ? `Another program listens there (${code})` : code;
    const isPlace = notHere.has(code);
    const advice = isPlace
      ? `This machine has no such address (${code}): take one of its own, like 127.0.0.1.`
      : `${reason}: take another port, or another address of this machine.`;
    const given = isPlace ? { option: "--host", value: host } : { option: "--port", value: String(port) };
    reject(new WritError("option-invalid", { ...given, advice }));
  });
  return promise;
}

async function closed(server: ServerType, isOver: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  if ("closeIdleConnections" in server) server.closeIdleConnections();
  await Promise.allSettled([isOver]);
  const cut = setTimeout(() => "closeAllConnections" in server && server.closeAllConnections(), takingMs);
  await promise;
  clearTimeout(cut);
  await isOver;
}

function addressOf({ port }: AddressInfo, host: string): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The port of an option. @throws WritError `option-invalid` */
export function portOf(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  const advice = "Give a number from 0 (any free port) to 65535.";
  throw new WritError("option-invalid", { option: "--port", value, advice });
}
