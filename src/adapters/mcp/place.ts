import type { McpSignIn } from "./wanted.ts";

// Apart from transport.ts: types for users may not name a package that may be absent.
/**
 * A server that is a program of this machine, over its standard input and output. Its environment has only `PATH`, so that programs are
 * found, and the variables in `env`.
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
  /** The working folder. Default: that of this process. */
  readonly cwd?: string;
}

/**
 * A server at an address, over Streamable HTTP. It gets these headers and no others that could identify somebody; a redirect to another
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
  /** Headers for the origin of the address only. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Signs in by OAuth if the server requires it. Default: such a server cannot be used. */
  readonly signIn?: McpSignIn;
}

/** A server: a program to start, or an address. */
export type Place = McpProgram | McpAddress;
