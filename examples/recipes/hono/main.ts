// node examples/recipes/hono/main.ts
//
// Agents under /agents of a Hono application, behind the sign-in of that application. In your own application: npm i writ hono
import assert from "node:assert/strict";
import { Hono } from "hono";
import { getCookie } from "hono/cookie";
import { serve } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { clerk } from "../clerk.ts";

const people = new Map([["a-session", "ada"]]);
const app = new Hono();
const agents = serve({
  store: sqliteRuns(":memory:"), // use a file, or postgresRuns(url) for several machines
  agents: [clerk],
  path: "/agents",
  principals({ headers }) {
    const name = headers.get("x-signed-in-as"); // only the code below sets it: the header of a client is removed
    return name === null ? undefined : { name };
  },
});

app.all("/agents/*", (context) => {
  const headers = new Headers(context.req.raw.headers);
  headers.delete("x-signed-in-as");
  const name = people.get(getCookie(context, "session") ?? "");
  if (name !== undefined) headers.set("x-signed-in-as", name);
  return agents.fetch(new Request(context.req.raw, { headers }));
});
process.once("SIGTERM", () => void agents.drain());

// A page of the application asks like this:
const body = JSON.stringify({ agent: "clerk", input: "Good morning", id: "greeting" });
const ask = (path: string, headers: Record<string, string>, method = "GET") =>
  app.request(`http://shop.example${path}`, { method, headers, ...(method === "POST" ? { body } : {}) });
const liar = await ask("/agents/runs", { "x-signed-in-as": "ada" }, "POST");
assert.equal(liar.status, 401);
const cookie = "session=a-session";
const ada = await ask("/agents/runs", { cookie }, "POST");
assert.equal(ada.status, 201);
const events = await (await ask("/agents/runs/greeting/events", { cookie })).text();
console.log("Ada is told:", /"content":"(.*?)"/.exec(events)?.[1]);
await agents.drain();
