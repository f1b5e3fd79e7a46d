import { errorOf } from "./server-error.ts";

/** Options of `runsClient`. */
export interface RunsClientOptions {
  /** The address of the server, with the path under which it is mounted. In a page, a path alone will do: `/agents`. */
  readonly url: string;
  /** The token of a principal, or a function that returns it for each request. Left out if cookies, or nothing, identify the caller. */
  readonly token?: string | (() => string | Promise<string>);
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** The functions that ask a server. */
export interface Asking {
  /** Makes a request. @throws the error of the function that returns the token */
  readonly requestOf: (
    method: string,
    path: string,
    more?: Pick<RequestInit, "body" | "signal">,
  ) => Promise<Request>;
  /** Sends a request. @throws the error of `fetch` */
  readonly send: (request: Request) => Promise<Response>;
  /** Sends a request, and reads the JSON of its answer. @throws ServerError; the error of `fetch` */
  readonly read: <Answer>(request: Request) => Promise<Answer>;
  /** Makes a request, sends it, and reads the JSON of its answer. @throws ServerError; the errors of `fetch` and of the function of the token */
  readonly told: <Answer>(method: string, path: string, body?: object) => Promise<Answer>;
}

/** Makes the functions that ask a server in the name of a principal. @throws TypeError for options without an address */
export function asking({ url, token, fetch: sending }: Partial<RunsClientOptions> = {}): Asking {
  if (typeof url !== "string") throw new TypeError("runsClient() needs a `url` as text");
  const place = url.replace(/\/+$/, "");
  const requestOf: Asking["requestOf"] = async (method, path, more = {}) => {
    const bearer = typeof token === "function" ? await token() : token;
    const headers = {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(more.body !== undefined && { "content-type": "application/json" }),
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
    return read(await requestOf(method, path, { body: JSON.stringify(body) })); // undefined if there is no body
  }
  return { requestOf, send, read, told };
}
