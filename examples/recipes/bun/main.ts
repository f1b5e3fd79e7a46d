// bun examples/recipes/bun/main.ts
//
// Agents behind Bun's own server: the server streams events as they come, and clients answer questions over HTTP. In your own project: bun add writ
import assert from "node:assert/strict";
import { hashToken, serve } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { askAndApprove } from "../ask-and-approve.ts";
import { clerk, refunds } from "../clerk.ts";

/** The part of Bun that is used here. `bun add -d @types/bun` declares all of it. */
declare const Bun: {
  serve(options: object): { readonly url: URL; stop(): Promise<void> };
};

const agents = serve({
  store: sqliteRuns(":memory:"), // use a file, or postgresRuns(url) for several machines
  agents: [clerk],
  principals: [{ name: "web", tokens: [hashToken("a-secret")], agents: ["clerk"] }],
});
// Bun ends a connection after 10 seconds without data. Streams of events send data in time. An answer in one piece needs this setting.
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 255, fetch: agents.fetch });
const leave = () => agents.drain().then(() => server.stop());
process.once("SIGTERM", () => void leave());

const told = await askAndApprove(server.url.href, "a-secret");
console.log(told.join(" "));
assert.equal((await fetch(new URL("/runs", server.url))).status, 401);
assert.deepEqual(refunds, ["30 euros for order 17"]);
await leave();
console.log("One refund, approved over HTTP.");
