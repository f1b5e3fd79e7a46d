import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the server plays for one request: a status with a body, or events of a stream and how that ends. */
export interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly sse?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `hang` leaves the answer open, `cut` breaks the connection. Default: `end`. */
  readonly after?: "end" | "hang" | "cut";
}

/** A request as it came. */
export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** A provider on the loopback interface that plays what it is given, one answer a request, the last one again and again. */
export interface PlayedServer {
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** What is answered to GET requests, by their paths without a query; 404 for others. */
  readonly pages: Map<string, unknown>;
  play(...answers: readonly Answer[]): void;
  /** Settles when a client has gone away before its answer was whole. */
  dropped(this: void): Promise<void>;
  close(this: void): Promise<void>;
}

/** Starts it at a free port. */
export async function playedServer(): Promise<PlayedServer> {
  const requests: RecordedRequest[] = [];
  const pages = new Map<string, unknown>();
  let answers: readonly Answer[] = [];
  let next = 0;
  const dropped = Promise.withResolvers<void>();
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      const page = pages.get((request.url ?? "").replace(/\?.*/, ""));
      write(response, page === undefined ? { status: 404, json: {} } : { json: page });
      return;
    }
    const text = await readBody(request);
    const body = JSON.parse(text) as Record<string, unknown>;
    requests.push({ path: request.url ?? "", headers: request.headers, text, body });
    response.on("close", () => response.writableFinished || dropped.resolve());
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    write(response, answer ?? { status: 500, json: { error: { message: "nothing to play" } } });
  }

  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    pages,
    dropped: () => dropped.promise,
    play(...given) {
      answers = given;
      next = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += String(chunk);
  return text;
}

function write(response: ServerResponse, { status = 200, json, sse, headers, after = "end" }: Answer): void {
  if (sse === undefined) {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(json));
    return;
  }
  response.writeHead(status, { "content-type": "text/event-stream", ...headers });
  response.flushHeaders();
  response.write(sse, () => after === "cut" && response.socket?.resetAndDestroy());
  if (after === "end") response.end();
}

/** Events as SSE. */
export function sse(events: readonly object[], done = false): string {
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return [...lines, ...(done ? ["data: [DONE]\n\n"] : [])].join("");
}
