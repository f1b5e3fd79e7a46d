import type { AddressInfo } from "node:net";
import { serve as listen, type ServerType } from "@hono/node-server";
import { WritError } from "../error/writ-error.ts";

/** A server that listens at a port. */
export interface Listener {
  readonly address: string;
  /** Takes no connection any more, and resolves when the last has ended. */
  readonly close: () => Promise<void>;
}

/** Listens at a port of an address. @throws WritError `option-invalid` for a port that cannot be had */
export function listening(
  fetch: (request: Request) => Promise<Response>,
  port: number,
  host: string,
): Promise<Listener> {
  const { promise, resolve, reject } = Promise.withResolvers<Listener>();
  // Headers that do not come end their connection. The body has a time of its own, and this one behind it. Node looks as often as it is told to.
  const serverOptions = { headersTimeout: 10_000, requestTimeout: 45_000, connectionsCheckingInterval: 1000 };
  const server: ServerType = listen({ fetch, port, hostname: host, serverOptions }, (info) =>
    resolve({ address: addressOf(info, host), close: () => closed(server) }),
  );
  server.once("error", (error: NodeJS.ErrnoException) => {
    const { code = error.message } = error;
    const reason = code === "EADDRINUSE" ? `Another program listens there (${code})` : code;
    const advice = `${reason}: take another port, or another address of this machine.`;
    reject(new WritError("option-invalid", { option: "--port", value: String(port), advice }));
  });
  return promise;
}

function closed(server: ServerType): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ("closeIdleConnections" in server) server.closeIdleConnections();
  });
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
