/**
 * Agents behind HTTP: runs are started, followed, answered and cancelled over a `fetch` handler that any framework mounts.
 *
 * @module writ/server
 */
export { hashToken, type Identity, type Principal, type SignIn } from "./server/callers.ts";
export { type ServerLimits } from "./server/limits.ts";
export type { McpAuthorization, McpOffer, McpOptions } from "./server/mcp/options.ts";
export { type McpStdioOptions, serveMcpStdio } from "./server/mcp/stdio.ts";
export { serve, type Server, type ServeOptions } from "./server/serve.ts";
