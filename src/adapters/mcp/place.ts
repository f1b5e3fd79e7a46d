import type { McpSignIn } from "./wanted.ts";

// Apart from transport.ts: what users' types name must not name a package that may be absent.
/**
 * A server that is a program of this machine, spoken with over its standard input and output. Its environment is `PATH`, so that programs are
 * found, and what `env` gives; no variable of this process besides.
 *
 * @example
 * ```ts
 * import type { McpProgram } from "writ/mcp";
 *
 * export const notes: McpProgram = { command: "notes-server", args: ["--read-only"], env: { NOTES: "/data/notes" }, cwd: "/data" };
 * ```
 */
export interface McpProgram {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the working folder of this process. */
  readonly cwd?: string;
}

/**
 * A server at an address, spoken with over Streamable HTTP. It is sent these headers and no others that could name somebody; a redirect to another
 * origin is not followed.
 *
 * @example
 * ```ts
 * import type { McpAddress } from "writ/mcp";
 *
 * export const notes: McpAddress = { url: "https://notes.example/mcp", headers: { authorization: "Bearer made-for-this-server" } };
 * ```
 */
export interface McpAddress {
  readonly url: string | URL;
  /** Sent to the origin of the address alone. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Signs in by OAuth where the server wants it. Default: such a server cannot be used. */
  readonly signIn?: McpSignIn;
}

/** A server: a program to start, or an address. */
export type Place = McpProgram | McpAddress;
