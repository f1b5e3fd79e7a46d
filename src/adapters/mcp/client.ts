/**
 * The methods that writ needs of a connected MCP client: the `Client` of `@modelcontextprotocol/client` 2.x has
 * them.
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
  /** Returns one page of tools, or all of them if the client reads all pages itself. */
  listTools(
    params?: { readonly cursor?: string },
    options?: McpRequestOptions & { readonly cacheMode?: "refresh" },
  ): Promise<{ readonly tools: readonly McpTool[]; readonly nextCursor?: string | undefined }>;
  /** Returns the server's capabilities, if the client keeps them. */
  getServerCapabilities?(): { readonly tools?: object | undefined } | undefined;
  /** Rejects if the request fails; a tool that fails says so in its result. */
  callTool(
    params: { readonly name: string; readonly arguments?: { readonly [name: string]: unknown } },
    options?: McpRequestOptions,
  ): Promise<object>;
  /** Listens for changes of the server's list. Without it, a change is noticed at the next reading of the list. */
  setNotificationHandler?(method: "notifications/tools/list_changed", handler: () => void): void;
}

/**
 * A tool as its server describes it. All of it is a claim of a stranger: `annotations` are pinned with the rest, but never trusted.
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
  /** Further data of the server: `ui` names the page that shows results of its calls. */
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
  /** The milliseconds that the request may take. */
  readonly timeout?: number;
  /** Asks the server to report progress. */
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
