// node examples/recipes/chat-page/main.ts          serves it until Ctrl-C
// node examples/recipes/chat-page/main.ts --once   tries it and ends
//
// A chat page without a framework: it shows words while the model writes, and buttons for the questions of the agent. npm i writ hono @hono/node-server
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serve as listen } from "@hono/node-server";
import { Hono } from "hono";
import { serve } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { clerk } from "../clerk.ts";

const agents = serve({ store: sqliteRuns(":memory:"), agents: [clerk], path: "/agents" }); // without principals: for this machine alone
const app = new Hono();
app.get("/", ({ html }) => html(readFileSync(join(import.meta.dirname, "page.html"), "utf8")));
app.all("/agents/*", ({ req }) => agents.fetch(req.raw));

const { promise, resolve } = Promise.withResolvers<number>();
const server = listen({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port));
const url = `http://127.0.0.1:${await promise}`;
const leave = () => agents.drain().then(() => server.close());
process.once("SIGTERM", () => void leave());
process.once("SIGINT", () => void leave());
console.log(`The page is at ${url}`);

if (process.argv.includes("--once")) {
  assert.match(await (await fetch(url)).text(), /<title>The clerk<\/title>/);
  const body = JSON.stringify({ agent: "clerk", input: "Good morning", id: "greeting" });
  const started = await fetch(`${url}/agents/runs`, { method: "POST", body });
  assert.equal(started.status, 201);
  const events = await (await fetch(`${url}/agents/runs/greeting/events`)).text();
  console.log("The page is told:", /"content":"(.*?)"/.exec(events)?.[1]);
  await leave();
}
