import { errorOf } from "./server-error.ts";

/** Options of `runsClient`. */
export interface RunsClientOptions {
  /** The place of the server, with the path under which it is mounted; in a page also a path alone: `/agents`. */
  readonly url: string;
  /** The token of a principal, or a function that gives it for each request. Left out where cookies or nothing say who asks. */
  readonly token?: string | (() => string | Promise<string>);
  /** In the place of the `fetch` of the platform. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** Ways to ask a server. */
export interface Asking {
  /** Sends one request. @throws what `fetch` throws */
  readonly ask: (
    method: string,
    path: string,
    more?: Pick<RequestInit, "body" | "signal">,
  ) => Promise<Response>;
  /** Sends one request, and reads the JSON of its answer. @throws ServerError; what `fetch` throws */
  readonly told: <Answer>(method: string, path: string, body?: object) => Promise<Answer>;
}

/** Makes what asks a server in the name of a principal. */
export function asking({ url, token, fetch: send }: RunsClientOptions): Asking {
  const place = url.replace(/\/+$/, "");
  const ask: Asking["ask"] = async (method, path, more = {}) => {
    const bearer = typeof token === "function" ? await token() : token;
    const headers = {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(more.body === undefined ? {} : { "content-type": "application/json" }),
    };
    const request = new Request(place + path, { method, headers, ...more });
    return send === undefined ? fetch(request) : send(request);
  };
  async function told<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await ask(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
    if (!response.ok) throw await errorOf(response);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the description of the server says so
    return (response.status === 204 ? undefined : await response.json()) as Answer;
  }
  return { ask, told };
}
