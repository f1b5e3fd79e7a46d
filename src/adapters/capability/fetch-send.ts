import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import type { LookupFunction } from "node:net";
import type { Hop } from "./fetch-hop.ts";
import type { Address } from "./vetted-lookup.ts";

/** The open connections of this process. A connection is reused only for the same host at the same vetted addresses. */
const agents = {
  "http:": keyedByAddress(new HttpAgent({ keepAlive: true })),
  "https:": keyedByAddress(new HttpsAgent({ keepAlive: true })),
};
const requests = { "http:": httpRequest, "https:": httpsRequest };
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Sends one request to vetted addresses, and returns the answer when its headers are there. It looks up nothing again. */
export async function send(
  hop: Hop,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  try {
    return await sendOnce(hop, addresses, signal);
  } catch (error) {
    // A kept connection that the server closed meanwhile has carried nothing to it.
    if (error instanceof StaleConnection && !signal.aborted) return sendOnce(hop, addresses, signal);
    throw error instanceof StaleConnection ? error.cause : error;
  }
}

class StaleConnection extends Error {}

function sendOnce(
  { url, place, method, headers, body }: Hop,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions & { readonly vetted: string } = {
      agent: agents[place.protocol],
      host: place.host.replace(/^\[|\]$/g, ""),
      port: place.port,
      method,
      path: `${url.pathname}${url.search}`,
      headers: {
        ...Object.fromEntries(headers),
        ...(body === undefined ? {} : { "content-length": body.length }),
      },
      lookup: alwaysThese(addresses),
      signal,
      // Set here, so that no environment variable can switch it off.
      rejectUnauthorized: true,
      vetted: addresses.map(({ address }) => address).join(" "),
    };
    const request = requests[place.protocol](options);
    request.once("response", resolve);
    request.once("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new Error("the server wants to speak another protocol."));
    });
    request.once("error", (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && error.code === "ECONNRESET" && repeatable.has(method);
      reject(isStale ? new StaleConnection("stale", { cause: error }) : error);
    });
    request.end(body);
  });
}

function alwaysThese(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family);
  };
}

function keyedByAddress<Kept extends HttpAgent>(agent: Kept): Kept {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (options?: Parameters<typeof nameOf>[0] & { readonly vetted?: string }) =>
    `${nameOf(options)} ${options?.vetted ?? ""}`;
  return agent;
}
