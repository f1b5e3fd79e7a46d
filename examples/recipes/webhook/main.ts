// node examples/recipes/webhook/main.ts
//
// A refund that a person approves with a button in a chat. A server in this program plays the chat and speaks Slack's wire format. Copy approvals.ts.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ServerType, serve as listen } from "@hono/node-server";
import { Hono } from "hono";
import { durableRuns } from "writ/durable";
import { sqliteRuns } from "writ/sqlite";
import { clerk, refunds } from "../clerk.ts";
import { clicks, post } from "./approvals.ts";

interface Posted {
  readonly text: string;
  readonly blocks: readonly [unknown, { readonly elements: readonly { action_id: string; value: string }[] }];
}

const posted: Posted[] = [];
const replaced: string[] = [];
const chat = new Hono();
let asks = 0;
chat.post("/api/chat.postMessage", async ({ req, json }) => {
  asks += 1;
  if (asks === 1) return json({ ok: false, error: "channel_not_found" }); // with status 200, as Slack sends it
  posted.push(await req.json());
  return json({ ok: true });
});
chat.post("/replies", async ({ req, json }) => {
  replaced.push((await req.json<{ text: string }>()).text);
  return json({ ok: true });
});
const servers: ServerType[] = [];
const url = await started(chat);

const slack = { url: `${url}/api`, token: "xoxb-token", signingSecret: "a-secret", channel: "#refunds" };
const runs = durableRuns({ store: sqliteRuns(":memory:"), agents: [clerk] }); // use a file, or postgresRuns(url)
const worker = runs.work();
const hook = await started(clicks(runs, slack));

await runs.start(clerk, "Refund order 17", { id: "order-17" });
const told = new Set<string>();
const refused: unknown[] = [];
for (let tries = 0; posted.length === 0; tries += 1) {
  assert(tries < 500, "nothing was posted");
  await post(runs, slack, told).catch((error: unknown) => refused.push(error)); // in a service, call it every second
  await sleep(20);
}
assert.match(String(refused), /channel_not_found/);
assert(posted[0] !== undefined);
console.log(posted[0].text);

assert.equal(await click(posted[0], "U0KIM", "another-secret"), 401);
assert.equal(await click(posted[0], "U0KIM", slack.signingSecret), 200);
assert.equal(await click(posted[0], "U0LEE", slack.signingSecret), 200);
console.log((await runs.result("order-17")).output);
console.log(replaced.join("\n"));
assert.match(replaced[0] ?? "", /^Approved by <@U0KIM>/);
assert.match(replaced[1] ?? "", /was answered before, by U0KIM/);
assert.deepEqual(refunds, ["30 euros for order 17"]);
await worker.drain();
for (const server of servers) server.close();

async function started(app: Hono): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<number>();
  servers.push(listen({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port)));
  return `http://127.0.0.1:${await promise}`;
}

/** Sends the request that the chat sends when a person clicks Approve. */
async function click({ blocks }: Posted, id: string, secret: string): Promise<number> {
  const [approve] = blocks[1].elements;
  const payload = { user: { id, username: "anybody" }, actions: [approve], response_url: `${url}/replies` };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const time = Math.floor(Date.now() / 1000);
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`;
  const headers = { "x-slack-request-timestamp": String(time), "x-slack-signature": signature };
  return (await fetch(`${hook}/slack/clicks`, { method: "POST", headers, body })).status;
}
