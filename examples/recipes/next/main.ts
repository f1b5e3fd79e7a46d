// node examples/recipes/next/main.ts
//
// Calls the functions of route.ts as Next.js does.
import assert from "node:assert/strict";
import { GET, POST } from "./route.ts";

const url = "https://shop.example/agents/runs";
const headers = { authorization: "Bearer a-secret" };
const body = JSON.stringify({ agent: "clerk", input: "Good morning", id: "greeting" });
const started = await POST(new Request(url, { method: "POST", headers, body }));
assert.equal(started.status, 201);
const events = await (await GET(new Request(`${url}/greeting/events`, { headers }))).text();
console.log("The client is told:", /"content":"(.*?)"/.exec(events)?.[1]);
process.exit(); // otherwise the worker of the server would wait for more runs
