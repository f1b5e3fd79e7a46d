import { messageOf, WritError } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { checkName, tool, type Tool, type ToolContext } from "../../tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { boundedText, contentText } from "./content.ts";
import { toolNames } from "./names.ts";

/**
 * What writ needs of a connected MCP client: the `Client` of `@modelcontextprotocol/client` 2.x has it.
 *
 * @example
 * ```ts
 * import type { McpClient } from "writ/mcp";
 *
 * export const silent: McpClient = {
 *   listTools: async () => ({ tools: [{ name: "wait", inputSchema: { type: "object" } }] }),
 *   callTool: async () => ({ content: [] }),
 * };
 * ```
 */
export interface McpClient {
  /** One page of tools, or all of them where the client reads all pages itself. */
  listTools(
    params?: { readonly cursor?: string },
    options?: McpRequestOptions,
  ): Promise<{ readonly tools: readonly McpTool[]; readonly nextCursor?: string | undefined }>;
  /** What the server said it has, when the client keeps that. */
  getServerCapabilities?(): { readonly tools?: object | undefined } | undefined;
  /** Fails when the request fails; a tool that fails says so in its result. */
  callTool(
    params: { readonly name: string; readonly arguments?: { readonly [name: string]: unknown } },
    options?: McpRequestOptions,
  ): Promise<object>;
}

/**
 * A tool as its server describes it. Everything else that a server says of a tool, like its `annotations`, is a stranger's claim and is not
 * read.
 *
 * @example
 * ```ts
 * import type { McpTool } from "writ/mcp";
 *
 * export const search: McpTool = {
 *   name: "search",
 *   description: "Search the notes",
 *   inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
 * };
 * ```
 */
export interface McpTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
}

/**
 * How a request is sent.
 *
 * @example
 * ```ts
 * import type { McpRequestOptions } from "writ/mcp";
 *
 * export const options: McpRequestOptions = { timeout: 5000, onprogress: ({ progress }) => console.log(progress) };
 * ```
 */
export interface McpRequestOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly timeout?: number;
  /** Asks the server to tell how far it is. */
  readonly onprogress?: (progress: McpProgress) => void;
}

/**
 * How far a call is.
 *
 * @example
 * ```ts
 * import type { McpProgress } from "writ/mcp";
 *
 * export const half: McpProgress = { progress: 1, total: 2, message: "halfway" };
 * ```
 */
export interface McpProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * How the tools of a server are taken over.
 *
 * @example
 * ```ts
 * import type { McpToolsOptions } from "writ/mcp";
 *
 * export const options: McpToolsOptions = { server: "github", timeoutMs: 10_000 };
 * ```
 */
export interface McpToolsOptions {
  /** Your name for the server: its tools are called `server.tool`. Left out: they are called as the server calls them. */
  readonly server?: string;
  /** A call, or a look at the list, that takes longer ends. Milliseconds; default 60,000. */
  readonly timeoutMs?: number;
  /** Stops the listing. */
  readonly signal?: AbortSignal;
}

/** A server whose list goes on for ever would never be used. */
const maxPages = 64;

/**
 * Makes tools of all that a connected MCP client offers now. They are ordinary tools: the JSON Schemas of the server are enforced here,
 * before a call is sent and after its result came; a call has a time; what fails at the server, and a server that is gone, are results that
 * the model sees. A result is the structured content where there is some, else the text; other content is only named, like
 * `[image image/png]`.
 *
 * A server is a stranger. Descriptions are cut at 2,000 characters, and what it says of a tool's effect is not believed: the effect stays
 * undeclared. Names keep letters, digits, `_`, `-`, `.` and `/`; other characters become `_`, and names that become the same get a number. The
 * list is read once: a tool that the server drops later fails when it is called.
 *
 * @throws WritError `mcp-unusable` when the list cannot be read or the server offers no tools, `name-invalid` for the name of the server, `name-taken` when the server has
 * two tools of one name, `schema-invalid` for a schema that cannot be held to. An aborted listing throws the signal's reason.
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
  const { server, timeoutMs = 60_000 } = options;
  if (server !== undefined) checkName(server, "An MCP server");
  const listed = await listAll(client, options);
  const names = toolNames(
    listed.map(({ name }) => name),
    server,
  );
  return listed.map((each, index) =>
    tool({
      name: names[index] ?? each.name,
      description: boundedText(each.description ?? ""),
      inputSchema: each.inputSchema as JsonSchema,
      ...(each.outputSchema === undefined ? {} : { outputSchema: each.outputSchema as JsonSchema }),
      timeoutMs,
      execute: (args, context) => callRemote(client, { name: each.name, args, timeoutMs }, context),
    }),
  );
}

async function listAll(client: McpClient, options: McpToolsOptions): Promise<readonly McpTool[]> {
  const { server = "(unnamed)", timeoutMs: timeout = 60_000, signal } = options;
  const tools: McpTool[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  try {
    if (client.getServerCapabilities !== undefined && client.getServerCapabilities()?.tools === undefined)
      throw new Error("the server offers no tools, or the client is not connected"); // a client may list none then
    do {
      signal?.throwIfAborted();
      const params = cursor === undefined ? undefined : { cursor };
      const page = await client.listTools(params, { timeout, ...(signal === undefined ? {} : { signal }) });
      tools.push(...page.tools);
      cursor = page.nextCursor;
      if (cursor !== undefined && (cursors.has(cursor) || cursors.size >= maxPages))
        throw new Error(`the list does not end: ${cursors.size + 1} pages were read`);
      if (cursor !== undefined) cursors.add(cursor);
    } while (cursor !== undefined);
    return tools;
  } catch (error) {
    signal?.throwIfAborted();
    throw new WritError("mcp-unusable", { server, reason: messageOf(error) }, { cause: error });
  }
}

interface RemoteCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly timeoutMs: number;
}

/** What ends a call first is the runtime's own clock; the client's is behind it, for calls that no run is around. */
const clientGraceMs = 1_000;

async function callRemote(
  client: McpClient,
  { name, args, timeoutMs }: RemoteCall,
  { signal, progress }: ToolContext,
): Promise<Json> {
  const result = await client.callTool(
    { name, arguments: args },
    { signal, timeout: timeoutMs + clientGraceMs, onprogress: (told) => progress({ ...told }) },
  );
  const { content, structuredContent, isError } = isJsonObject(result) ? result : {};
  if (isError === true)
    throw new Error(contentText(content) ?? "the server says that it failed, and not why");
  return structuredContent ?? contentText(content) ?? "(no content)";
}
