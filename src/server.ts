/**
 * Agents behind HTTP: clients start, follow, answer and cancel runs through a `fetch` handler, which you mount in any framework.
 *
 * @module writ/server
 */
export { hashToken, type Identity, type Principal, type SignIn } from "./server/callers.ts";
export { type ServerLimits } from "./server/limits.ts";
export type { McpAuthorization, McpOffer, McpOptions } from "./server/mcp/options.ts";
export { type McpStdioOptions, serveMcpStdio } from "./server/mcp/stdio.ts";
export { serve, type Server, type ServeOptions } from "./server/serve.ts";
