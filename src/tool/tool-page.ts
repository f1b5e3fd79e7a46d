import type { JsonObject } from "../util/json.ts";

/** The page that shows results of a tool's calls, for front ends: an MCP App. Models are not shown it. */
export interface ToolPage {
  /** The author's name for the server. */
  readonly server: string;
  /** `ui://…` */
  readonly uri: string;
  readonly mimeType: "text/html;profile=mcp-app";
  /** Loads the page as the server has it now; undefined if it has none there. It is a stranger's program: a front end must put it into a sandbox. */
  readonly load: (signal: AbortSignal) => Promise<LoadedPage | undefined>;
}

/** A page with its content. `meta` is the server's word on how to show it: content security, permissions, a border. */
export interface LoadedPage {
  readonly uri: string;
  readonly mimeType: string;
  readonly html: string;
  readonly meta?: JsonObject;
}
