import { checkName, type Tool } from "../../tool/tool.ts";
import { openCatalogue } from "./catalogue.ts";
import type { McpClient } from "./client.ts";
import { type McpTaking, takingFields } from "./take.ts";
import { checkShape, closed, fromOne } from "../../error/check-shape.ts";
import { anything, having, object, optional, type Shape } from "../../util/shape.ts";
import { waitMs } from "../wait-ms.ts";

export type { McpChange } from "./changes.ts";
export type { McpClient, McpProgress, McpRequestOptions, McpTool } from "./client.ts";
export { approvePins, connectMcp, type McpConnection, type McpServer } from "./connect.ts";
export type { McpPin, McpPins } from "./pins.ts";
export type { McpTaking } from "./take.ts";
export type { McpAddress, McpProgram } from "./place.ts";
export type { McpReading, McpRevision, McpSignIn, McpSignInStore } from "./wanted.ts";

/**
 * Options of {@link mcpTools}.
 *
 * @example
 * ```ts
 * import type { McpToolsOptions } from "writ/mcp";
 *
 * export const options: McpToolsOptions = { server: "github", timeoutMs: 10_000, pins: "mcp-pins.json" };
 * ```
 */
export interface McpToolsOptions extends McpTaking {
  /** The author's name for the server: its tools are called `server/tool`. Left out: they have the server's names. */
  readonly server?: string;
  /** The milliseconds after which a call, or reading the list, ends; default 60,000. */
  readonly timeoutMs?: number;
  /** Stops the reading of the list. */
  readonly signal?: AbortSignal;
}

/** Register: the listeners for changes of the list of a client's server, because a client has only one handler. */
const listeners = new WeakMap<McpClient, Set<() => void>>();

/**
 * Makes tools of everything that a connected MCP client offers now, like `connectMcp()`, which also connects. They are ordinary tools: the JSON Schemas of the
 * server are enforced here, before a call is sent and after its result came; a call has a time limit; failures at the server, and a lost server,
 * are results that the model sees. A result is the structured content if there is some, otherwise the text. Pictures, sounds and resources with
 * their data come with it as files; other content is only named, like `[resource_link notes://1]`.
 *
 * A server is a stranger. A run that offers one of its tools to a model begins untrusted, unless `pins` or `approve` approve its descriptions.
 * Descriptions are cut at 2,000 characters, and the server's declaration of a tool's effect is not trusted: the effect stays
 * undeclared unless the author declares it in `tools`. Names keep letters, digits, `_`, `-`, `.` and `/`; other characters become `_`. Names and
 * descriptions with hidden characters, and names that mix scripts or that can be confused with each other, are refused. The client's handler of
 * `notifications/tools/list_changed` is replaced: a tool whose description changes is no longer called.
 *
 * @throws WritError `mcp-unusable` if the list cannot be read or the server offers no tools, `mcp-refused` also for schemas that cannot be enforced, `name-invalid` for the name of the server,
 * `name-taken` if the server has two tools of one name, `tool-unknown`, `pins-missing`,
 * `pins-invalid`. An aborted listing throws the signal's reason.
 * @example
 * ```ts
 * import { Client } from "@modelcontextprotocol/client";
 * import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
 * import { agent } from "writ";
 * import { mcpTools } from "writ/mcp";
 *
 * const client = new Client({ name: "notes", version: "1.0.0" });
 * await client.connect(new StdioClientTransport({ command: "notes-server" }));
 * export const librarian = agent({
 *   name: "librarian",
 *   model: "ollama/qwen2.5:7b",
 *   tools: await mcpTools(client, { server: "notes" }),
 * });
 * ```
 */
export async function mcpTools(client: McpClient, options: McpToolsOptions = {}): Promise<readonly Tool[]> {
  checkShape("mcpTools()", { client }, clientShape);
  checkShape("mcpTools()", options, optionsShape);
  const { server } = options;
  const timeoutMs = waitMs(options.timeoutMs ?? 60_000);
  if (server !== undefined) checkName(server, "An MCP server");
  const line = {
    client: async () => client,
    worked: () => undefined,
    broke: (_: unknown, error: unknown) => error,
  };
  const { tools, doubt } = await openCatalogue(line, { ...options, server, timeoutMs });
  listen(client, doubt);
  return tools;
}

const clientShape = object({
  client: having("a connected client of an MCP server; connectMcp() makes one", "listTools", "callTool"),
});

const fields: { readonly [Field in keyof Required<McpToolsOptions>]: Shape<unknown> } = {
  server: anything,
  timeoutMs: optional(fromOne),
  signal: anything,
  ...takingFields,
};
const optionsShape = closed(fields);

function listen(client: McpClient, listener: () => void): void {
  const known = listeners.get(client);
  known?.add(listener);
  if (known !== undefined || client.setNotificationHandler === undefined) return;
  const all = new Set([listener]);
  listeners.set(client, all);
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    for (const each of all) each();
  });
}
