// node examples/recipes/express/main.ts
//
// Agents under /agents of an Express application, for its signed-in users. In your own application: npm i writ express @hono/node-server
import assert from "node:assert/strict";
import { once } from "node:events";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { serve } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { clerk } from "../clerk.ts";

const people = new Map([["a-session", "ada"]]);
const agents = serve({
  store: sqliteRuns(":memory:"), // use a file, or postgresRuns(url) for several machines
  agents: [clerk],
  path: "/agents",
  principals({ headers }) {
    const name = people.get(/(?:^|; )session=([^;]+)/.exec(headers.get("cookie") ?? "")?.[1] ?? "");
    return name === undefined ? undefined : { name };
  },
});

const app = express();
app.all("/agents/{*rest}", getRequestListener(agents.fetch)); // mount it before express.json(), which reads the body
app.use(express.json());
app.get("/", (_request, response) => void response.send("The shop"));

const listening = app.listen(0, "127.0.0.1"); // your port
process.once("SIGTERM", () => void agents.drain().then(() => listening.close()));

// A page of the application asks like this:
await once(listening, "listening");
const address = listening.address();
assert(typeof address === "object" && address !== null);
const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${address.port}${path}`, init);
const cookie = "session=a-session";

assert.equal(await (await ask("/")).text(), "The shop");
const body = JSON.stringify({ agent: "clerk", input: "Good morning", id: "greeting" });
const nobody = await ask("/agents/runs", { method: "POST", body });
assert.equal(nobody.status, 401);
const ada = await ask("/agents/runs", { method: "POST", body, headers: { cookie } });
assert.equal(ada.status, 201);
const events = await (await ask("/agents/runs/greeting/events", { headers: { cookie } })).text();
console.log("Ada is told:", /"content":"(.*?)"/.exec(events)?.[1]);
await agents.drain();
listening.close();
