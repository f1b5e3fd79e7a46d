import { Hono } from "hono";
import { nodeHost } from "../adapters/clock.ts";
import { checkDurable, type DurableOptions } from "../durable/durable-options.ts";
import type { WorkOptions } from "../durable/worker.ts";
import { closed, fromOne } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { anything, list, optional, shapeOf, string } from "../util/shape.ts";
import { a2aRoutes } from "./a2a/routes.ts";
import { aguiRoutes } from "./agui/routes.ts";
import { chatRoutes } from "./chat-routes.ts";
import { callersOf, type Principal, type SignIn } from "./callers.ts";
import { faultTeller } from "./fault-teller.ts";
import { handlerOf, type Handling, isOwn } from "./handle.ts";
import { type Bounds, defaultBounds, type ServerLimits, Usages } from "./limits.ts";
import { type McpEndpoint, mcpEndpoint } from "./mcp/endpoint.ts";
import { offerOf } from "./mcp/offer.ts";
import { checkMcp, type McpOptions } from "./mcp/options.ts";
import { openApi } from "./openapi.ts";
import { originGuard, originShape } from "./origins.ts";
import { openAiRoutes } from "./openai-routes.ts";
import { openAiFailure } from "./openai-run.ts";
import { takenPaths } from "./other-methods.ts";
import { problemResponse } from "./problems.ts";
import { json, type Route } from "./route.ts";
import { runRoutes } from "./run-routes.ts";
import { pageRoutes } from "./tool-pages.ts";
import { responsesRoutes } from "./responses-routes.ts";
import { serveRuns, servingShapes } from "./served-runs.ts";
import { sessionRoutes } from "./session-routes.ts";

/** Options of {@link serve}. */
export interface ServeOptions extends DurableOptions {
  /**
   * The callers that may use the server with a token, or a function that identifies the caller of a request. Left out, anybody who reaches the server may use
   * it, but only by the names of this machine: for development.
   */
  readonly principals?: readonly Principal[] | SignIn;
  /** The path under which it is mounted, like `/api/agents`. Default: none. */
  readonly path?: string;
  /** The origins of other pages that may use it from a browser, like `https://app.example`. Default: none. */
  readonly origins?: readonly string[];
  /** The host names that requests may use. Default: any with `principals`, and those of this machine without. */
  readonly hosts?: readonly string[];
  /** Bounds on requests. Default: a body of 1 000 000 bytes in 30 s; for each caller 6 000 requests a minute and 1 000 streams. */
  readonly limits?: ServerLimits;
  /** Offers the agents to clients of the Model Context Protocol too, under `/mcp`. Needs `@modelcontextprotocol/server`. Default: not offered. */
  readonly mcp?: McpOptions;
  /** Carries out the runs in this process. `false`: other processes work. Default: 10 at a time. */
  readonly work?: WorkOptions | false;
  /**
   * Called with each error that a caller got as 500, or that broke off a stream, and with the failure of each run that failed in this process: callers are
   * told its code alone. Default: a process warning.
   */
  readonly onError?: (error: unknown) => unknown;
}

/** A server of agents. */
export interface Server extends AsyncDisposable {
  /** Answers a request: frameworks and adapters of `node:http` mount it. Never throws. */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Takes no new requests (`/health` says so), ends its streams, lets work under way end and hands the runs over. Readers reconnect to another
   * process with the number of their last event.
   */
  drain(options?: { readonly graceMs?: number }): Promise<void>;
}

const names = optional(list(string, "a list of names"));
const fields = {
  ...servingShapes,
  principals: optional(anything),
  mcp: optional(anything),
  path: optional(shapeOf("a path like `/agents`", (value) => /^(?:(?:\/[\w.~-]+)+)?$/.test(String(value)))),
  origins: optional(list(originShape, "a list of origins")),
  hosts: names,
  limits: optional(
    closed({
      bodyBytes: optional(fromOne),
      bodyMs: optional(fromOne),
      requestsAMinute: optional(fromOne),
      streams: optional(fromOne),
    }),
  ),
};
const shape = closed(fields, { owner: "server" });

/**
 * Serves agents over HTTP, with durable runs: requests start, follow, answer and cancel them, and they go on whether or not anybody
 * listens. It returns a `fetch` handler, which every framework mounts. `GET /openapi.json` describes the requests.
 *
 * @throws WritError `definition-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { hashToken, serve } from "writ/server";
 * import { sqliteRuns } from "writ/sqlite";
 *
 * const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b" });
 * const token = process.env["WEB_TOKEN"] ?? "";
 * const server = serve({
 *   store: sqliteRuns("runs.db"),
 *   agents: [clerk],
 *   principals: [{ name: "web", tokens: [hashToken(token)], agents: ["clerk"] }],
 * });
 * export default { fetch: server.fetch }; // Bun, Deno; `app.mount("/agents", server.fetch)` in Hono
 * process.once("SIGTERM", () => void server.drain());
 * ```
 */
export function serve(options: ServeOptions): Server {
  checkDurable(options, "serve()", shape);
  const host = nodeHost;
  const { principals, path = "", origins, hosts, limits, mcp, work, onError, ...durable } = options;
  if (mcp !== undefined) checkMcp(mcp, principals !== undefined);
  const offer = mcp && offerOf(durable.agents ?? [], mcp);
  const callerOf = callersOf(principals, (agent) => offer?.owners.get(agent) ?? agent);
  const tellFault = faultTeller(onError, host);
  const { worker, ...around } = serveRuns(durable, {
    work,
    host,
    callers: offer?.callers,
    onFailure: tellFault,
  });
  const leaving = new AbortController();
  const bounds: Bounds = { ...defaultBounds, ...limits };
  const handling: Handling = {
    around,
    callerOf,
    usages: new Usages(bounds, host),
    bounds,
    leaving: leaving.signal,
    onError: tellFault,
  };
  const endpoint = mcp && offer && mcpEndpoint(mcp, { ...handling, offer });
  const app = appOf(path, handling, endpoint);
  const guard = originGuard({
    origins: origins ?? [],
    hosts: hosts ?? (principals === undefined ? local : undefined),
  });
  const leave = async (given?: { readonly graceMs?: number }): Promise<void> => {
    leaving.abort(new WritError("server-leaving", {}));
    await Promise.all([endpoint?.close(), worker?.drain(given)]);
  };
  let drained: Promise<void> | undefined;
  const drain: Server["drain"] = (given) => (drained = leave(given));
  return {
    fetch: (request) => guard(request, async () => app.fetch(request)),
    drain,
    [Symbol.asyncDispose]: () => drained ?? drain(),
  };
}

const routes: readonly Route[] = [
  {
    method: "get",
    path: "/health",
    summary: "Whether the server takes requests",
    answer: { status: 200 },
    isOpen: true,
    act: () => json({ status: "ok" }),
  },
  {
    method: "get",
    path: "/openapi.json",
    summary: "This description",
    answer: { status: 200 },
    isOpen: true,
    act: () => json(openApi(routes)),
  },
  ...runRoutes,
  ...sessionRoutes,
  ...chatRoutes,
  ...pageRoutes,
  ...aguiRoutes,
  ...a2aRoutes,
  ...openAiRoutes,
  ...responsesRoutes,
];

/** All routes under a path. */
function appOf(path: string, handling: Handling, endpoint: McpEndpoint | undefined): Hono {
  const app = new Hono({ strict: true });
  const patternOf = (one: string): string => path + one.replaceAll(/\{(\w+)\}/g, ":$1");
  for (const route of routes) {
    const handle = handlerOf(route, handling);
    app.on(route.method, patternOf(route.path), ({ req }) =>
      handle(req.raw, req.param()).catch((error: unknown) => {
        if (isOwn(error, req.raw)) handling.onError(error);
        return (route.failure ?? problemResponse)(error);
      }),
    );
  }
  for (const taken of takenPaths(routes)) app.all(patternOf(taken.path), ({ req }) => taken.answer(req.raw));
  if (endpoint !== undefined) {
    app.all(`${path}/mcp`, ({ req }) => endpoint.handle(req.raw));
    if (endpoint.metadata !== undefined) {
      const { path: place, body } = endpoint.metadata;
      app.get(place, () => json(body));
    }
  }
  app.notFound(({ req: { method, path: asked } }) => {
    const what = `route ${method} ${asked.slice(0, 200)}${asked.startsWith(`${path}/`) ? "" : outsideText(path)}`;
    const isOpenAi = /^\/v1\/(?!agui\/|a2a\/)/.test(asked.slice(path.length)); // other protocols use these paths
    const failure = isOpenAi ? openAiFailure : problemResponse;
    return failure(new WritError("request-unknown", { what }));
  });
  return app;
}

/** The reason why a path has no answer. Some frameworks, such as Express with `app.use`, pass on only the rest of a path. */
function outsideText(path: string): string {
  return `: all of this server stands below its \`path\`, ${path}. Mount it where requests keep that, or leave \`path\` out`;
}

/** The names by which a machine reaches itself. */
const local: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
