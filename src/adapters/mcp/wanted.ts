// Apart from code that uses the library: types for users may not name a package that may be absent.
import type { Knowledge } from "../../tool/knowledge.ts";
import type { Tool } from "../../tool/tool.ts";

/**
 * The choice among the resources and prompts of a server. Their contents are a stranger's; with pins, their descriptions are approved like those of tools.
 *
 * @example
 * ```ts
 * import type { McpReading } from "writ/mcp";
 *
 * export const reading: McpReading = { resources: ["notes://house-rules"], prompts: true };
 * ```
 */
export interface McpReading {
  /** The resources that are taken as knowledge: these addresses, or all that the server lists. Default: none. */
  readonly resources?: readonly string[] | true;
  /** The prompts that are taken as tools, whose results are their texts: these names, or all. Default: none. */
  readonly prompts?: readonly string[] | true;
}

/** The resources and prompts that the author takes from a server. */
export interface Readings {
  readonly knowledge: readonly Knowledge[];
  readonly prompts: readonly Tool[];
}

/**
 * The revisions of the protocol that are offered to a server: `auto` asks for 2026-07-28, and uses an earlier one if the server does not know that.
 *
 * @example
 * ```ts
 * import type { McpRevision } from "writ/mcp";
 *
 * export const newest: McpRevision = "2026-07-28";
 * ```
 */
export type McpRevision = "auto" | "2025-11-25" | "2026-07-28";

/**
 * A sign-in at a server by OAuth, for a person with a browser. The server and its authorization server name the addresses of the sign-in.
 *
 * @example
 * ```ts
 * import type { McpSignIn } from "writ/mcp";
 *
 * export const signIn = (ask: (question: string) => Promise<string>): McpSignIn => ({
 *   redirectUrl: "http://127.0.0.1:8976/callback",
 *   open: (address) => ask(`Open ${address.href} and paste the address where you came back:`),
 * });
 * ```
 */
export interface McpSignIn {
  /** The address to which the browser returns. */
  readonly redirectUrl: string;
  /**
   * Shows the person an address of the web, and returns the address to which their browser returned. A stranger wrote the address: give it to a program as an
   * argument, never to a shell.
   */
  readonly open: (address: URL) => Promise<string | URL>;
  /** Keeps the tokens and the registration of this server, and of no other, as a secret text. Default: kept while the process runs. */
  readonly store?: McpSignInStore;
  /** The id and secret of a client that was registered before. Default: it registers itself. */
  readonly client?: { readonly id: string; readonly secret?: string };
  /** The address of a document that describes the client, for authorization servers that accept it as an id. */
  readonly clientMetadataUrl?: string;
  /** The name that people see. Default `writ`. */
  readonly clientName?: string;
}

/**
 * The place of the text that a sign-in keeps.
 *
 * @example
 * ```ts
 * import { readFile, writeFile } from "node:fs/promises";
 * import type { McpSignInStore } from "writ/mcp";
 *
 * export const inFile = (path: string): McpSignInStore => ({
 *   read: () => readFile(path, "utf8").catch(() => undefined),
 *   write: (text) => writeFile(path, text, { mode: 0o600 }),
 * });
 * ```
 */
export interface McpSignInStore {
  readonly read: () => string | undefined | Promise<string | undefined>;
  readonly write: (text: string) => unknown;
}
