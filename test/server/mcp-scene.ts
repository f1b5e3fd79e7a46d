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
