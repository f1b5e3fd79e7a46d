import type * as McpClient from "@modelcontextprotocol/client";

type Transport = McpClient.StreamableHTTPClientTransport;

/** The milliseconds that a server may take to accept a cancel. */
const cancelMs = 5_000;

/**
 * Ends the request of a call that is cancelled or took too long. In the older revision the library only tells the server, and leaves the answer open: a server
 * that ends none would collect connections.
 */
export function endCancelled(transport: Transport): void {
  const first = transport.send.bind(transport);
  const open = new Map<unknown, AbortController>();
  const send: Transport["send"] = async (message, options) => {
    if (Array.isArray(message) || !("method" in message)) return first(message, options);
    if ("id" in message) {
      const own = new AbortController();
      open.set(message.id, own);
      return first(message, { ...options, requestSignal: either(own.signal, options?.requestSignal) });
    }
    if (message.method !== "notifications/cancelled") return first(message, options);
    const { requestId } = message.params ?? {};
    open.get(requestId)?.abort();
    open.delete(requestId);
    return first(message, { ...options, requestSignal: AbortSignal.timeout(cancelMs) });
  };
  const receive = transport.onmessage;
  Object.assign(transport, {
    send,
    onmessage: (...[message, ...extra]: Parameters<NonNullable<typeof receive>>) => {
      if ("id" in message && !("method" in message)) open.delete(message.id);
      receive?.call(transport, message, ...extra);
    },
  });
}

function either(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? own : AbortSignal.any([own, given]);
}
