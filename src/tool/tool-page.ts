import type { JsonObject } from "../util/json.ts";

/** The page that shows what calls of a tool did, for front ends: an MCP App. No model is shown it. */
export interface ToolPage {
  /** The author's name for the server. */
  readonly server: string;
  /** `ui://…` */
  readonly uri: string;
  readonly mimeType: "text/html;profile=mcp-app";
  /** Gives the page as the server has it now; undefined where it has none there. It is a stranger's program: a front end puts it into a sandbox. */
  readonly load: (signal: AbortSignal) => Promise<LoadedPage | undefined>;
}

/** A page with its words. `meta` is what the server says of how it is shown: content security, permissions, a border. */
export interface LoadedPage {
  readonly uri: string;
  readonly mimeType: string;
  readonly html: string;
  readonly meta?: JsonObject;
}
