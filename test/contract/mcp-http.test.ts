import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { callTool } from "../../src/adapters/lower-doors.ts";
import { connectMcp, type McpConnection, type McpServer } from "../../src/adapters/mcp/tools.ts";

interface Wire {
  readonly url: string;
  readonly requests: {
    method: string;
    headers: IncomingMessage["headers"];
    body: { method?: string; id?: number };
  }[];
}

type Answer = (response: ServerResponse, body: { readonly method?: string; readonly id?: number }) => void;

const result: Answer = (response, { method, id }) => {
  const serverInfo = { name: "web", version: "1.0.0" };
  const results: Readonly<Record<string, unknown>> = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
    "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "hello" }] },
  };
  if (id === undefined) response.writeHead(202).end();
  else {
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "s1" });
    const known = results[method ?? ""];
    const unknown = { code: -32_601, message: "Method not found" };
    response.end(
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        ...(known === undefined ? { error: unknown } : { result: known }),
      }),
    );
  }
};

/** A server over HTTP whose answers to calls can be anything. */
async function serve(onCall: Answer = result): Promise<Wire> {
  const requests: Wire["requests"] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const body = (text === "" ? {} : JSON.parse(text)) as { method?: string; id?: number };
      requests.push({ method: request.method ?? "", headers: request.headers, body });
      if (request.method !== "POST") response.writeHead(405).end();
      else (body.method === "tools/call" ? onCall : result)(response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, requests };
}

async function connect(url: string, options: Partial<McpServer> = {}): Promise<McpConnection> {
  const connection = await connectMcp({ name: "web", url, timeoutMs: 5_000, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

const echo = ({ tools }: McpConnection): ReturnType<typeof callTool> =>
  callTool([tools], { name: "web/echo" });

describe("an MCP server over HTTP", () => {
  it("case 52: is called with the headers that are given and no others that name somebody", async () => {
    const { url, requests } = await serve();
    const web = await connect(url, {
      headers: { authorization: "Bearer for-this-server" },
    });
    expect(await echo(web)).toMatchObject({ status: "ok", value: "hello" });
    for (const { headers } of requests) {
      expect(headers.authorization).toBe("Bearer for-this-server");
      expect(headers.cookie).toBeUndefined();
    }
    const { url: plain, requests: unnamed } = await serve();
    await echo(await connect(plain));
    expect(unnamed.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  it("does not follow it to another origin, and takes no credentials there", async () => {
    const other = await serve();
    const away: Answer = (response) => void response.writeHead(307, { location: other.url }).end();
    const { url } = await serve(away);
    const web = await connect(url, { headers: { authorization: "Bearer secret" } });
    expect(await echo(web)).toMatchObject({ status: "error" });
    expect(other.requests).toEqual([]);
  });

  it.each<[string, Answer]>([
    ["answers with an error", (response) => void response.writeHead(500).end("x".repeat(9_000))],
    ["breaks the connection", (response) => void response.destroy()],
    [
      "answers with something else",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end("hi"),
    ],
    [
      "gives no JSON",
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end("{"),
    ],
  ])("is a call that failed when it %s, and is tried anew at the next", async (_what, answer) => {
    let count = 0;
    const { url } = await serve((response, body) => ((count += 1) === 1 ? answer : result)(response, body));
    const web = await connect(url);
    const failed = await echo(web);
    expect(failed).toMatchObject({ status: "error" });
    expect(failed.text.length).toBeLessThan(1_000);
    expect(await echo(web)).toMatchObject({ status: "ok", value: "hello" });
  });

  it("leaves the other calls at work when one breaks", async () => {
    const first = Promise.withResolvers<() => void>();
    let count = 0;
    const { url } = await serve((response, body) => {
      count += 1;
      if (count === 1) first.resolve(() => result(response, body));
      else if (count === 2) response.writeHead(502).end("Bad Gateway");
      else result(response, body);
    });
    const web = await connect(url);
    const slow = echo(web);
    const answer = await first.promise;
    expect(await echo(web)).toMatchObject({ status: "error" });
    expect(await echo(web)).toMatchObject({ status: "ok" });
    answer();
    expect(await slow).toMatchObject({ status: "ok", value: "hello" });
  });

  it.each(["application/json", "text/event-stream"])("reads no answer without an end (%s)", async (type) => {
    const { url } = await serve((response) => {
      response.writeHead(200, { "content-type": type });
      const pour = (): void => {
        while (!response.destroyed && response.write(`data: ${"x".repeat(100_000)}\n`));
        if (!response.destroyed) response.once("drain", pour);
      };
      pour();
    });
    expect(await echo(await connect(url))).toMatchObject({
      status: expect.stringMatching(/error|timeout/) as string,
    });
  });

  it("begins a new session where the old one is forgotten", async () => {
    let isForgotten = true;
    const { url, requests } = await serve((response, body) => {
      if (isForgotten) response.writeHead(404).end();
      else result(response, body);
      isForgotten = false;
    });
    const web = await connect(url);
    expect(await echo(web)).toMatchObject({ status: "error" });
    expect(await echo(web)).toMatchObject({ status: "ok" });
    expect(requests.filter(({ body }) => body.method === "initialize")).toHaveLength(2);
  });
});
