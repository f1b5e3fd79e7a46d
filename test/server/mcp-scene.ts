import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { Server } from "../../src/server.ts";
import { ask, type AskOptions, web } from "./scene.ts";

const mcp = { accept: "application/json, text/event-stream", "content-type": "application/json" };

/** The request that begins a session. */
export const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "raw", version: "1" },
  },
};

/** What each request of the newest revision says of its client. */
export const revision = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

/** A request as clients of the protocol make it. */
export const send = (server: Server, what: string, { body, headers = {} }: AskOptions = {}) =>
  ask(server, what, { ...(body === undefined ? {} : { body }), headers: { ...web, ...mcp, ...headers } });

/** Begins a session, and gives its id. */
export async function begin(server: Server): Promise<string> {
  const response = await send(server, "POST /mcp", { body: initialize });
  await response.text();
  return response.headers.get("mcp-session-id") ?? "none";
}

type Revision = "2025-11-25" | "2026-07-28";
export const revisions: readonly Revision[] = ["2025-11-25", "2026-07-28"];

interface Connecting {
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers the questions of the server. Left out, the client has no elicitation. */
  readonly elicit?: (params: { readonly message: string }) => object | Promise<object>;
}

/** Connects the client of the official library. */
export async function connect(
  { fetch }: Server,
  revision: Revision,
  { headers = web, elicit }: Connecting = {},
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    {
      capabilities: elicit === undefined ? {} : { elicitation: {} },
      versionNegotiation: { mode: revision === "2025-11-25" ? "legacy" : { pin: revision } },
    },
  );
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => elicit(params) as { action: "accept" });
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: (url, init) => fetch(new Request(url, init)),
    requestInit: { headers: { ...headers } },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}
