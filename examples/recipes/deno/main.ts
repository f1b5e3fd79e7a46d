// deno run --allow-net --allow-env --allow-sys examples/recipes/deno/main.ts
//
// Agents behind Deno's own server: the server streams events as they come, and clients answer questions over HTTP. In your own project: deno add npm:writ
import assert from "node:assert/strict";
import { hashToken, serve } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { askAndApprove } from "../ask-and-approve.ts";
import { clerk, refunds } from "../clerk.ts";

/** The part of Deno that is used here, for type checkers other than `deno check`. */
declare const Deno: {
  serve(
    options: object,
    handler: (request: Request) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
};

const agents = serve({
  store: sqliteRuns(":memory:"), // use a file, or postgresRuns(url) for several machines
  agents: [clerk],
  principals: [{ name: "web", tokens: [hashToken("a-secret")], agents: ["clerk"] }],
});
const server = Deno.serve({ port: 0, hostname: "127.0.0.1" }, agents.fetch);
const leave = () => agents.drain().then(() => server.shutdown());
process.once("SIGTERM", () => void leave());

const url = `http://127.0.0.1:${server.addr.port}`;
const told = await askAndApprove(url, "a-secret");
console.log(told.join(" "));
assert.equal((await fetch(`${url}/runs`)).status, 401);
assert.deepEqual(refunds, ["30 euros for order 17"]);
await leave();
console.log("One refund, approved over HTTP.");
