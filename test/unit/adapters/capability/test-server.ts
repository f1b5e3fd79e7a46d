import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server on this machine, with what it was asked. */
export interface TestServer {
  readonly port: number;
  readonly origin: string;
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }[];
  connections: number;
  answer: Answer;
  readonly close: () => Promise<void>;
}

export async function testServer(host = "127.0.0.1"): Promise<TestServer> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const { method = "", url = "", headers } = request;
      found.requests.push({ method, url, headers, body });
      found.answer(request, response, body);
    });
  });
  server.on("connection", () => (found.connections += 1));
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const found: TestServer = {
    port,
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    requests: [],
    connections: 0,
    answer: (_request, response) => void response.end("hello"),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return found;
}
