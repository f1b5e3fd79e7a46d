import type { Runnable } from "../agent/runnable.ts";
import type { DurableRuns } from "../durable/durable-runs.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Json } from "../util/json.ts";
import type { Caller } from "./callers.ts";
import type { ServedRuns } from "./run-events.ts";

/** The runs behind a server: what can be done with them, and what they tell. */
export interface RunsAround {
  readonly runs: DurableRuns;
  readonly served: ServedRuns;
}

/** A request as a route is given it: read, and held against what the route says of itself. */
export interface Asked extends RunsAround {
  readonly request: Request;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The body, which fits the schema of the route; null where it has none. */
  readonly body: Json;
  /** Opens a stream of this caller: aborted when the server leaves or the client has gone; `end` is called when the stream is over. */
  readonly openStream: () => { readonly signal: AbortSignal; readonly end: () => void };
}

/** Something that a server can be asked, as it is carried out and described. */
export interface Route {
  readonly method: "get" | "post" | "delete";
  /** With `{name}` for a part of the path. */
  readonly path: string;
  readonly summary: string;
  /** The parts of the query, each with the schema of its text. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  readonly body?: JsonSchema;
  /** The answer when all is well. */
  readonly answer: {
    readonly status: 200 | 201 | 204;
    readonly schema?: JsonSchema;
    readonly type?: string;
    /** Or a stream of events, where the caller asks for that. */
    readonly orEvents?: true;
    /** Or 204, where there is nothing. */
    readonly orNothing?: true;
  };
  /** Anybody may ask, without a token. */
  readonly isOpen?: boolean;
  /** Answers with an error, where its clients read them in a form of their own. Default: RFC 9457. */
  readonly failure?: (error: unknown) => Response;
  readonly act: (asked: Asked) => Promise<Response> | Response;
}

/** The agents that a caller may use: for them there are no others. */
export function agentsOf({
  caller,
  served: { shown },
}: Pick<Asked, "caller" | "served">): readonly Runnable[] {
  return shown.filter(({ name }) => caller.mayUse(name));
}

/** An answer of JSON. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}
