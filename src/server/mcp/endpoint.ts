import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../util/json.ts";
import type { Caller } from "../callers.ts";
import type { Handling } from "../handle.ts";
import { wholeRequest } from "../limits.ts";
import { problemResponse, statusOf } from "../problems.ts";
import { keepAliveMs } from "../sse.ts";
import { type Library, loadLibrary } from "./library.ts";
import type { Offer } from "./offer.ts";
import type { McpAuthorization, McpOptions } from "./options.ts";
import { protocolServer } from "./protocol-server.ts";
import type { Serving } from "./side.ts";
import { type Sessions, sessionsOf } from "./sessions.ts";
import { whileRead } from "./while-read.ts";

/** The endpoint of the protocol over HTTP. */
export interface McpEndpoint {
  /** Answers a request. Never throws. */
  readonly handle: (request: Request) => Promise<Response>;
  /** The description of the resource for OAuth, with its address; undefined without OAuth. */
  readonly metadata: { readonly path: string; readonly body: JsonObject } | undefined;
  readonly close: () => Promise<void>;
}

interface Around extends Handling {
  readonly offer: Offer;
}

/** The two forms of the protocol: request by request, and in sessions, as earlier revisions have it. */
interface Ways {
  readonly library: Library;
  readonly modern: McpHttpHandler;
  readonly sessions: Sessions;
}

/** Makes the endpoint. The library is loaded with the first request. */
export function mcpEndpoint(options: McpOptions, around: Around): McpEndpoint {
  const { authorization, approvals = "refuse" } = options;
  const { onError, callerOf, leaving, usages, bounds } = around;
  const atWork = new Set<Promise<unknown>>();
  const load = (): Promise<Ways> => waysOf(around, approvals, atWork);
  let ways: Promise<Ways> | undefined;

  async function answer(request: Request): Promise<Response> {
    leaving.throwIfAborted();
    const caller = await callerOf(request);
    usages.count(caller.name);
    const { library, modern, sessions } = await (ways ??= load());
    const whole = await wholeRequest(request, bounds, around.around.served.host);
    const { bodyBytes: maxRequestBodySize } = bounds;
    if (await library.isLegacyRequest(whole, undefined, { maxRequestBodySize }))
      return sessions.handle(whole, caller);
    const authInfo = { token: "", clientId: caller.name, scopes: [], extra: { caller } };
    return whileRead(
      whole,
      () => usages.stream(caller.name),
      () => modern.fetch(whole, { authInfo }),
    );
  }

  const place = authorization && metadataPlace(authorization);
  return {
    metadata: authorization && place && { path: place.pathname, body: metadataOf(authorization) },
    async handle(request) {
      try {
        return await answer(request);
      } catch (error) {
        if (statusOf(error) === undefined) onError(error);
        const response = problemResponse(error);
        if (response.status === 401 && place !== undefined)
          response.headers.set("www-authenticate", `Bearer resource_metadata="${place.href}"`);
        return response;
      }
    },
    async close() {
      if (ways === undefined) return;
      const { modern, sessions } = await ways;
      await Promise.allSettled([...atWork, ...sessions.atWork()]); // each call gets an answer before the server leaves
      await new Promise<void>((resolve) => void around.around.served.host.timer(0, resolve));
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

async function waysOf(
  { around, offer, leaving, onError, usages, bounds }: Around,
  approvals: NonNullable<McpOptions["approvals"]>,
  atWork: Set<Promise<unknown>>,
): Promise<Ways> {
  const library = await loadLibrary();
  const serving: Serving = { library, offer, around: { ...around, approvals, leaving }, onError, atWork };
  const { bodyBytes: maxRequestBodySize } = bounds; // the library has a bound of its own
  const modern = library.createMcpHandler(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is given with each request
    ({ authInfo }) => protocolServer(authInfo?.extra?.["caller"] as Caller, serving),
    { legacy: "reject", maxRequestBodySize, keepAliveMs },
  );
  const { host } = around.served;
  const open = (caller: string): (() => void) => usages.stream(caller);
  const sessions = sessionsOf(serving, { host, maxRequestBodySize, most: bounds.streams, open });
  return { library, modern, sessions };
}

/** The address at which RFC 9728 places the description of a resource. */
function metadataPlace({ resource }: McpAuthorization): URL {
  const { origin, pathname } = new URL(resource);
  return new URL(`${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}`);
}

const metadataOf = ({ resource, servers, scopes }: McpAuthorization): JsonObject => ({
  resource,
  authorization_servers: servers,
  bearer_methods_supported: ["header"],
  ...(scopes === undefined ? {} : { scopes_supported: scopes }),
});
