import type { Runnable } from "../agent/runnable.ts";
import type { DurableRuns } from "../durable/durable-runs.ts";
import { WritError } from "../error/writ-error.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Json } from "../util/json.ts";
import type { Caller } from "./callers.ts";
import type { ServedRuns } from "./run-events.ts";
import type { Sent, Streaming } from "./sse.ts";

/** The runs behind a server: the functions on them, and their events. */
export interface RunsAround {
  readonly runs: DurableRuns;
  readonly served: ServedRuns;
}

/** A request as a route gets it: read, and checked against the schemas of the route. */
export interface Asked extends RunsAround {
  readonly request: Request;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The body, which fits the schema of the route; null if the route has none. */
  readonly body: Json;
  /** Opens a stream of this caller. @throws WritError `request-too-many` */
  readonly openStream: () => OpenStream;
}

/** A place among the open streams of a caller. */
export interface OpenStream {
  /** Aborted when the server leaves, the client has gone, or the stream is over. */
  readonly signal: AbortSignal;
  /** Called when the stream is over, at least once, with its failure, which is reported to the author if it is the server's own. */
  readonly end: (failure?: unknown) => void;
  /** Answers with these events, and ends the stream behind the last. */
  readonly answer: (
    events: AsyncGenerator<Sent, void>,
    telling: Pick<Streaming, "failure" | "headers">,
  ) => Response;
}

/**
 * Begins something, and answers with a stream of it. The place is taken before anything happens: a caller refused for too many streams may ask again.
 *
 * @throws the errors of `begin`, and WritError `request-too-many`
 */
export async function inStream(
  { openStream }: Pick<Asked, "openStream">,
  begin: (stream: OpenStream) => Promise<Response>,
): Promise<Response> {
  const stream = openStream();
  try {
    return await begin(stream);
  } catch (error) {
    stream.end();
    throw error;
  }
}

/** A request that a server answers, as it is carried out and described. */
export interface Route {
  readonly method: "get" | "post" | "delete";
  /** With `{name}` for a part of the path. */
  readonly path: string;
  readonly summary: string;
  /** The parts of the query, each with the schema of its text. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  readonly body?: JsonSchema;
  /** The answer to a request that succeeds. */
  readonly answer: {
    readonly status: 200 | 201 | 204;
    readonly schema?: JsonSchema;
    readonly type?: string;
    /** True if it may be a stream of events instead, for callers that ask for one. */
    readonly orEvents?: true;
    /** True if it may be 204 instead, without content. */
    readonly orNothing?: true;
  };
  /** True if anybody may ask, without a token. */
  readonly isOpen?: boolean;
  /** Answers with an error, for clients that read errors in a form of their own. Default: RFC 9457. */
  readonly failure?: (error: unknown) => Response;
  readonly act: (asked: Asked) => Promise<Response> | Response;
}

/** The agents that a caller may use. Others do not exist for the caller. */
export function agentsOf({
  caller,
  served: { shown },
}: Pick<Asked, "caller" | "served">): readonly Runnable[] {
  return shown.filter(({ name }) => caller.mayUse(name));
}

/** The agent of a name, by default that in the path. @throws WritError `request-unknown` if it does not exist for the caller */
export function agentOf(asked: Asked, name: string = asked.params["agent"] ?? ""): Runnable {
  const agent = agentsOf(asked).find((one) => one.name === name);
  if (agent !== undefined) return agent;
  throw new WritError("request-unknown", { what: `agent ${JSON.stringify(name.slice(0, 200))}` });
}

/** An answer of JSON. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}
