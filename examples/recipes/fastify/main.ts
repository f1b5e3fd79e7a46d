// node examples/recipes/fastify/main.ts
//
// Agents under /agents of a Fastify application. In your own application: npm i writ fastify @hono/node-server
import assert from "node:assert/strict";
import { getRequestListener } from "@hono/node-server";
import fastify from "fastify";
import { hashToken, serve } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { clerk } from "../clerk.ts";

const agents = serve({
  store: sqliteRuns(":memory:"), // use a file, or postgresRuns(url) for several machines
  agents: [clerk],
  path: "/agents",
  principals: [{ name: "web", tokens: [hashToken("a-secret")] }], // the program has only the hash: npx writ token web makes both
});

const app = fastify();
app.get("/", () => "The shop");
void app.register((scope) => {
  scope.removeAllContentTypeParsers(); // the agents read their bodies themselves
  scope.addContentTypeParser("*", (_request, _body, done) => done(null));
  const listener = getRequestListener(agents.fetch);
  scope.all("/agents/*", async (request, reply) => {
    reply.hijack();
    await listener(request.raw, reply.raw);
  });
});
app.addHook("onClose", () => agents.drain());

const url = await app.listen({ host: "127.0.0.1", port: 0 }); // your port
process.once("SIGTERM", () => void app.close());

// A client asks like this:
const headers = { authorization: "Bearer a-secret", "content-type": "application/json" };
const ask = (path: string, init?: RequestInit) => fetch(url + path, { headers, ...init });

assert.equal(await (await ask("/")).text(), "The shop");
const body = JSON.stringify({ agent: "clerk", input: "Good morning", id: "greeting" });
const started = await ask("/agents/runs", { method: "POST", body });
assert.equal(started.status, 201);
const events = await (await ask("/agents/runs/greeting/events")).text();
console.log("The client is told:", /"content":"(.*?)"/.exec(events)?.[1]);
await app.close();
