import { messageOf, WritError } from "../../error/writ-error.ts";
import type { McpClient, McpTool } from "./client.ts";
import { inTime } from "./in-time.ts";

/** The most pages of a list, because a list may have no end. */
const maxPages = 64;
const maxTools = 1_000;

export interface Listing {
  /** The author's name for the server. */
  readonly server: string;
  /** Accepts a server without tools, whose list is then empty, because something else is wanted of it. */
  readonly mayHaveNone?: boolean | undefined;
  /** The milliseconds for all pages together. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns all tools of a server, from all pages, within the given time even if the client ignores it.
 *
 * @throws WritError `mcp-unusable`; the reason of the signal if it is aborted
 */
export async function listTools(
  client: McpClient,
  { server, timeoutMs, signal, mayHaveNone = false }: Listing,
): Promise<readonly McpTool[]> {
  try {
    if (client.getServerCapabilities !== undefined && client.getServerCapabilities()?.tools === undefined) {
      if (mayHaveNone) return [];
      throw new Error("the server offers no tools, or the client is not connected"); // a client may list none then
    }
    const read = (signal: AbortSignal): Promise<McpTool[]> =>
      readPages(client, { timeout: timeoutMs, signal });
    return await inTime(read, { timeoutMs, signal, what: "the list of tools" });
  } catch (error) {
    signal?.throwIfAborted();
    throw new WritError("mcp-unusable", { server, reason: messageOf(error) }, { cause: error });
  }
}

async function readPages(
  client: McpClient,
  options: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<McpTool[]> {
  const tools: McpTool[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    options.signal.throwIfAborted();
    const params = cursor === undefined ? undefined : { cursor };
    const page = await client.listTools(params, { ...options, cacheMode: "refresh" });
    for (const tool of page.tools) tools.push(tool);
    if (tools.length > maxTools) throw new Error(`it has more than ${maxTools} tools`);
    cursor = page.nextCursor;
    if (cursor !== undefined && (cursors.has(cursor) || cursors.size >= maxPages))
      throw new Error(`the list does not end: ${cursors.size + 1} pages were read`);
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return tools;
}
