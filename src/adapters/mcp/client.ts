/**
 * Methods that writ needs of a connected MCP client: the `Client` of `@modelcontextprotocol/client` 2.x has
 * it.
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
    options?: McpRequestOptions & { readonly cacheMode?: "refresh" },
  ): Promise<{ readonly tools: readonly McpTool[]; readonly nextCursor?: string | undefined }>;
  /** The server's capabilities, when the client keeps them. */
  getServerCapabilities?(): { readonly tools?: object | undefined } | undefined;
  /** Fails when the request fails; a tool that fails says so in its result. */
  callTool(
    params: { readonly name: string; readonly arguments?: { readonly [name: string]: unknown } },
    options?: McpRequestOptions,
  ): Promise<object>;
  /** Listens for changes of the server's list. Without it a change is noticed at the next listing. */
  setNotificationHandler?(method: "notifications/tools/list_changed", handler: () => void): void;
}

/**
 * A tool as its server describes it. All of it is a stranger's claim: `annotations` are pinned with the rest and never believed.
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
  readonly annotations?: object | undefined;
  /** More that the server says of it: `ui` names the page that shows what its calls do. */
  readonly _meta?: object | undefined;
}

/**
 * Options of a request.
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
 * Progress of a call.
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
