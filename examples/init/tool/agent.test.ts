import assert from "node:assert/strict";
import { test } from "node:test";
import { scripted } from "writ/testing";
import { weather } from "./agent.ts";

test("looks up the temperature", async () => {
  const calls = [{ name: "temperature", arguments: { city: "Oslo" } }];
  const run = await weather
    .with({ model: scripted([{ calls }, "9 degrees."]) })
    .run("How warm is it in Oslo?");
  assert.equal(run.text, "9 degrees.");
  assert.deepEqual(
    run.calls.map(({ name, status }) => [name, status]),
    [["temperature", "ok"]],
  );
});

test("refuses any other call, whatever its model proposes", async () => {
  const calls = [{ name: "send_mail", arguments: { to: "everybody" } }];
  const run = await weather.with({ model: scripted([{ calls }, "I may not."]) }).run("Tell everybody.");
  assert.deepEqual(
    run.calls.map(({ name, status }) => [name, status]),
    [["send_mail", "denied"]],
  );
});
