import { WritError } from "../error/writ-error.ts";
import { parseCallJson } from "../util/call-json.ts";
import type { Json, JsonObject } from "../util/json.ts";
import type { Caller } from "./callers.ts";
import { type Bounds, boundedText, type Usages } from "./limits.ts";
import { ownError, statusOf } from "./problems.ts";
import { reader } from "./reader.ts";
import type { Asked, Route, RunsAround } from "./route.ts";
import { eventStream } from "./sse.ts";

/** The parts of a server that all routes share. */
export interface Handling {
  readonly around: RunsAround;
  readonly callerOf: (request: Request) => Caller | Promise<Caller>;
  readonly usages: Usages;
  readonly bounds: Bounds;
  /** Aborted when the server is about to end. */
  readonly leaving: AbortSignal;
  /** Called for faults of the server itself. */
  readonly onError: (error: unknown) => void;
}

type Handler = (request: Request, params: Asked["params"]) => Promise<Response>;

const nobody: Caller = {
  name: "nobody",
  prefix: "",
  mayUse: () => false,
  agents: new Set(),
  isOperator: false,
};

/**
 * Makes the steps of a request before its route acts: it identifies the caller, counts the request, and checks it against the schemas of the route.
 *
 * @throws WritError (the handler) `request-unauthorized`, `request-too-many`, `request-too-large`, `request-slow`, `request-compressed`, `request-invalid`,
 * `server-leaving`
 */
export function handlerOf(
  route: Route,
  { around, callerOf, usages, bounds, leaving, onError }: Handling,
): Handler {
  const query = { type: "object", properties: route.query ?? {}, additionalProperties: false };
  const readQuery = reader(query, "the query");
  const readBody = route.body && reader(route.body, "the body");
  const { host } = around.served;
  return async (request, params) => {
    if (leaving.aborted) throw new WritError("server-leaving", {});
    const caller = route.isOpen === true ? nobody : await callerOf(request);
    if (caller !== nobody) usages.count(caller.name); // strangers must not use up the requests of a health check
    const asked = await readQuery(queryOf(new URL(request.url)));
    try {
      const response = await route.act({
        ...around,
        request,
        caller,
        params,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a query has texts alone
        query: asked as Asked["query"],
        body: (await readBody?.(readJson(await boundedText(request, bounds, host)))) ?? null,
        openStream() {
          const close = usages.stream(caller.name);
          const left = new AbortController();
          const end = (failure?: unknown): void => {
            close();
            left.abort();
            if (failure !== undefined && isOwn(failure, request)) onError(failure);
          };
          return {
            signal: AbortSignal.any([left.signal, leaving, request.signal]),
            end,
            answer: (events, telling) =>
              eventStream(events, {
                ...telling,
                timer: (afterMs, fire) => host.timer(afterMs, fire),
                onEnd: end,
              }),
          };
        },
      });
      if (request.method === "HEAD") await response.body?.cancel(); // its stream would stay open
      return response;
    } catch (error) {
      throw ownError(error, caller);
    }
  };
}

/** The parameters of a query. @throws WritError `request-invalid` for one that stands there twice: which one is meant is open */
function queryOf({ searchParams }: URL): JsonObject {
  for (const name of searchParams.keys())
    if (searchParams.getAll(name).length > 1)
      throw new WritError("request-invalid", {
        where: "the query",
        reason: `\`${name}\` stands there twice`,
      });
  return Object.fromEntries(searchParams);
}

/** True for a failure of the server itself. An error that the caller can mend, and a client that has gone, are not. */
export const isOwn = (failure: unknown, { signal }: Request): boolean =>
  statusOf(failure) === undefined && failure !== signal.reason;

/** Reads an empty body as an empty object: a caller that cancels a run need not send anything. A key that stands twice in one object is refused: which one is meant is open. */
function readJson(text: string): Json {
  const read = parseCallJson(text === "" ? "{}" : text);
  if (read.ok) return read.value;
  const reason = `it cannot be read as JSON: ${read.reason}`;
  throw new WritError("request-invalid", { where: "the body", reason }, { cause: new SyntaxError(reason) });
}
