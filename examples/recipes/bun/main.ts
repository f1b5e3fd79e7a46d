// bun examples/recipes/bun/main.ts
//
// Agents behind Bun's own server: events are streamed as they come, and a question is answered over HTTP. In a project of yours: bun add writ
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
  store: sqliteRuns(":memory:"), // a file; postgresRuns(url) for several machines
  agents: [clerk],
  principals: [{ name: "web", tokens: [hashToken("a-secret")], agents: ["clerk"] }],
});
// Bun ends a connection on which nothing was sent for 10 seconds. Streams of events say something in time; an answer in one piece needs this.
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 255, fetch: agents.fetch });
const leave = () => agents.drain().then(() => server.stop());
process.once("SIGTERM", () => void leave());

const told = await askAndApprove(server.url.href, "a-secret");
console.log(told.join(" "));
assert.equal((await fetch(new URL("/runs", server.url))).status, 401);
assert.deepEqual(refunds, ["30 euros for order 17"]);
await leave();
console.log("One refund, approved over HTTP.");
