import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { connectMcp } from "../../src/adapters/mcp/tools.ts";
import { callTool } from "../../src/doors.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

interface Said {
  readonly id?: number;
  readonly method?: string;
}

/** The address of a server of the older revision, which answers calls so. */
async function serverThat(answer: (response: ServerResponse) => void): Promise<string> {
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "slow", version: "1.0.0" },
    },
    "tools/list": { tools: [{ name: "go", inputSchema: { type: "object" } }] },
  };
  const serve: RequestListener = (request, response) => void served(request, response);
  const served = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a message of the library
    const { id, method = "" } = JSON.parse((await Array.fromAsync(request)).join("") || "{}") as Said;
    const result = results[method];
    if (method === "tools/call") return answer(response);
    if (result === undefined) return void response.writeHead(request.method === "GET" ? 405 : 202).end();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
  server = createServer(serve);
  await new Promise<void>((resolve) => void server?.listen(0, "127.0.0.1", () => resolve()));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it.each<[string, (response: ServerResponse) => void]>([
  ["that never comes", () => undefined],
  [
    "that never ends",
    (response) => void response.writeHead(200, { "content-type": "application/json" }).write(" "),
  ],
  [
    "of events without end",
    (response) =>
      void response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write("id: 1\nretry: 10\ndata:\n\n"),
  ],
])("a call over HTTP that took too long leaves no answer open %s", async (_what, answer) => {
  let open = 0;
  const url = await serverThat((response) => {
    open += 1;
    response.once("close", () => (open -= 1));
    answer(response);
  });
  await using connection = await connectMcp({ name: "slow", url, timeoutMs: 2_000, revision: "2025-11-25" });
  const calls = [1, 2].map(() => callTool(connection.tool("go"), {}));
  await expect.poll(() => open).toBe(2);
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(["timeout", "timeout"]);
  await expect.poll(() => open, { timeout: 10_000 }).toBe(0);
});
