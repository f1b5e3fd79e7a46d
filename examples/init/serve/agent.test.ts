import assert from "node:assert/strict";
import { after, test } from "node:test";
import { serve } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { scripted } from "writ/testing";
import { clerk } from "./agent.ts";

const calls = [{ name: "look_up", arguments: { order: "17" } }];
const model = scripted([{ calls }, "It came on Monday."]);
const server = serve({ store: sqliteRuns(":memory:"), agents: [clerk.with({ model })] });
after(() => server.drain());

const ask = (method: string, path: string, body?: object): Promise<Response> =>
  server.fetch(
    new Request(`http://localhost${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );

test("answers over HTTP", async () => {
  const begun = await ask("POST", "/runs", { agent: "clerk", input: "Where is order 17?", id: "one" });
  assert.equal(begun.status, 201);
  const events = await (await ask("GET", "/runs/one/events")).text(); // ends with the run
  assert.match(events, /delivered on Monday/);
  assert.match(events, /It came on Monday\./);
});

test("refuses to run an agent that it does not serve", async () => {
  const begun = await ask("POST", "/runs", { agent: "boss", input: "Hello" });
  assert.equal(begun.status, 400);
});
