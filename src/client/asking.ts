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
  /** Makes a request. @throws what the function throws that gives the token */
  readonly requestOf: (
    method: string,
    path: string,
    more?: Pick<RequestInit, "body" | "signal">,
  ) => Promise<Request>;
  /** Sends a request. @throws what `fetch` throws */
  readonly send: (request: Request) => Promise<Response>;
  /** Sends a request, and reads the JSON of its answer. @throws ServerError; what `fetch` throws */
  readonly read: <Answer>(request: Request) => Promise<Answer>;
  /** Makes a request, sends it, and reads the JSON of its answer. @throws ServerError; what `fetch` and the function of the token throw */
  readonly told: <Answer>(method: string, path: string, body?: object) => Promise<Answer>;
}

/** Makes what asks a server in the name of a principal. @throws TypeError for options without an address */
export function asking({ url, token, fetch: sending }: RunsClientOptions): Asking {
  if (typeof url !== "string") throw new TypeError("runsClient() needs a `url` as text");
  const place = url.replace(/\/+$/, "");
  const requestOf: Asking["requestOf"] = async (method, path, more = {}) => {
    const bearer = typeof token === "function" ? await token() : token;
    const headers = {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(more.body === undefined ? {} : { "content-type": "application/json" }),
    };
    return new Request(place + path, { method, headers, ...more });
  };
  const send: Asking["send"] = async (request) => (sending ?? fetch)(request);
  async function read<Answer>(request: Request): Promise<Answer> {
    const response = await send(request);
    if (!response.ok) throw await errorOf(response);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the description of the server says so
    return (response.status === 204 ? undefined : await response.json()) as Answer;
  }
  async function told<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    return read(await requestOf(method, path, { body: JSON.stringify(body) })); // undefined where there is none
  }
  return { requestOf, send, read, told };
}
