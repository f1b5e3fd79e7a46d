import assert from "node:assert/strict";
import { after, test } from "node:test";
import { scripted } from "writ/testing";
import { librarian, notes } from "./agent.ts";

after(() => notes.close());

test("finds a note through the server", async () => {
  const calls = [{ name: "notes/search", arguments: { query: "tea" } }];
  const model = scripted([{ calls }, ({ messages }) => `I read ${JSON.stringify(messages.at(-1))}`]);
  const run = await librarian.with({ model }).run("How long does tea steep?");
  assert.match(run.text ?? "", /steep it for four minutes/);
});

test("does not send the server a call that does not match its schema", async () => {
  const calls = [{ name: "notes/search", arguments: { text: "tea" } }];
  const run = await librarian.with({ model: scripted([{ calls }, "?"]) }).run("How long does tea steep?");
  assert.deepEqual(
    run.calls.map(({ status }) => status),
    ["invalid"],
  );
});
