/**
 * The client of a server that `serve()` makes, for browsers and programs. It does not load any other part of writ.
 *
 * @module writ/client
 */
export { ServerError } from "./client/server-error.ts";
export type { RunsClientOptions } from "./client/asking.ts";
export { type RunsClient, runsClient } from "./client/runs-client.ts";
