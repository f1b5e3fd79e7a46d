import type { IncomingMessage } from "node:http";
import { isWritError } from "../../error/writ-error.ts";
import { bodyOf } from "./fetch-body.ts";
import { type Hop, nextHop, shown } from "./fetch-hop.ts";
import { send } from "./fetch-send.ts";
import { asHandleFailed, type Lifetime } from "./lifetime.ts";
import { type Lookup, vettedAddresses } from "./vetted-lookup.ts";

export interface FollowOptions {
  readonly lifetime: Lifetime;
  readonly lookup: Lookup;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Sends a request and those that its redirects ask for, each judged like the first. The caller reads the body of the answer. */
export async function follow(first: Hop, options: FollowOptions): Promise<Response> {
  const { lifetime, lookup, signal } = options;
  let hop = first;
  for (let followed = 0; ; followed += 1) {
    const { place } = hop;
    lifetime.use({ kind: "net", ...place });
    const addresses = await vettedAddresses(place, lifetime, lookup);
    signal.throwIfAborted();
    const resource = shown(hop.url);
    const answer = await send(hop, addresses, signal).catch((error: unknown) => {
      throw asHandleFailed(resource, error);
    });
    try {
      const { statusCode: status = 0, headers } = answer;
      const next = nextHop(hop, { status, location: headers.location, followed });
      if (next === undefined) return responseOf(answer, { hop, isRedirected: followed > 0 }, options);
      answer.destroy();
      hop = next;
    } catch (error) {
      answer.destroy();
      throw asHandleFailed(resource, error);
    }
  }
}

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

function responseOf(
  answer: IncomingMessage,
  { hop, isRedirected }: { readonly hop: Hop; readonly isRedirected: boolean },
  { lifetime, maxBytes, signal }: FollowOptions,
): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = answer;
  const resource = shown(hop.url);
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const isEmpty = hop.method === "HEAD" || withoutBody.has(status);
  if (isEmpty) answer.resume();
  const errorOf = (thrown: unknown): unknown =>
    signal.aborted && !isWritError(thrown)
      ? lifetime.reasonOf("fetch", signal)
      : asHandleFailed(resource, thrown);
  const body = isEmpty ? null : bodyOf(answer, { resource, maxBytes, errorOf });
  return Object.defineProperties(new Response(body, { status, statusText, headers }), {
    url: { value: hop.url.href.replace(/#.*$/, "") },
    redirected: { value: isRedirected },
  });
}
