import type { Client } from "@modelcontextprotocol/client";
import { WritError } from "../../error/writ-error.ts";
import { brokenReason, type Line } from "./catalogue.ts";
import type { McpClient } from "./client.ts";
import { TooSlow } from "./in-time.ts";
import type { Place } from "./place.ts";
import { ownGraceMs } from "./remote-call.ts";
import { connectClient, type Connected, type Connecting, type Library } from "./transport.ts";

/** The number of attempts in a row after which a server is tried only once in a longer time, in which somebody may have mended it. */
const maxAttempts = 5;
const pauseMs = 60_000;

const closedHere =
  "this program closed the connection, by `close()` or at the end of the block with its `await using`";

/** A connection to a server that is made again when it was lost. */
export interface Link extends Line {
  client(this: void): Promise<Client>;
  close(this: void): Promise<void>;
}

export interface LinkEvents {
  /** Called after a reconnect: the server may have another version. */
  readonly onReconnect: () => void;
  readonly onListChanged: () => void;
}

/** Makes a connection to a server; its first use connects. */
export function makeLink(
  place: { readonly library: Library; readonly place: Place },
  connecting: Connecting,
  events: LinkEvents,
): Link {
  const { library } = place;
  const { name } = connecting;
  let current: Client | undefined;
  let pending: Promise<Client> | undefined;
  let attempts = 0;
  let lastAttempt = 0;
  let isClosed = false;
  const left = new Set<Client>();
  const tellers = new WeakMap<McpClient, Connected["told"]>();

  async function connect(): Promise<Client> {
    const isAgain = attempts > 0;
    attempts += 1;
    lastAttempt = performance.now();
    const signal = isAgain ? undefined : connecting.signal; // the author's signal is for the first connection
    const { client, told } = await connectClient(library, place.place, { ...connecting, signal });
    tellers.set(client, told);
    if (isClosed) {
      await client.close();
      throw gone(closedHere);
    }
    Object.assign(client, { onclose: () => drop(client) });
    client.setNotificationHandler("notifications/tools/list_changed", events.onListChanged);
    current = client;
    if (isAgain) events.onReconnect();
    return client;
  }

  function drop(client: McpClient): void {
    if (current === client) current = undefined;
  }

  /**
   * Closes a client that broke. Over HTTP, requests break one by one: others that are under way through this client get the time of a call to end. A program
   * is ended at once.
   */
  function leave(client: Client): void {
    const close = (): void => {
      left.delete(client);
      void client.close().catch(() => undefined);
    };
    if ("command" in place.place) return close();
    left.add(client);
    setTimeout(close, connecting.timeoutMs + ownGraceMs).unref();
  }

  function gone(reason: string, cause?: unknown): WritError<"mcp-gone"> {
    return new WritError("mcp-gone", { server: name, reason }, { cause });
  }

  return {
    async client() {
      if (isClosed) throw gone(closedHere);
      if (current !== undefined) return current;
      const isTooSoon = pending === undefined && performance.now() - lastAttempt < pauseMs;
      if (attempts > maxAttempts && isTooSoon)
        throw gone(`it went away or was not there ${attempts} times in a row, and is tried once a minute`);
      return await (pending ??= connect().finally(() => (pending = undefined)));
    },
    worked() {
      attempts = 1;
    },
    broke(client, error) {
      if (isAnswer(library, error)) return error;
      const own = current;
      if (own === client) {
        current = undefined;
        leave(own);
      }
      const reason = brokenReason(error);
      return gone(tellers.get(client)?.(reason) ?? reason, error);
    },
    async close() {
      isClosed = true;
      const clients = [...left, ...(current === undefined ? [] : [current])];
      current = undefined;
      left.clear();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** True for an error after which the server still works: it is slow, or sent nonsense. */
function isAnswer({ ProtocolError, SdkError, SdkErrorCode }: Library, error: unknown): boolean {
  if (error instanceof ProtocolError || error instanceof TooSlow) return true;
  if (!(error instanceof SdkError)) return false;
  return error.code === SdkErrorCode.RequestTimeout || error.code === SdkErrorCode.InvalidResult;
}
