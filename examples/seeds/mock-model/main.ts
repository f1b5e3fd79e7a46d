// node examples/seeds/mock-model/main.ts
//
// Tests of an agent without a model: a function replaces the model. These tests run with Node's own runner; any other runner works too.
import assert from "node:assert/strict";
import { test } from "node:test";
import { agent } from "writ";
import { userMessage } from "writ/doors";
import type { ModelFunction, ModelRequest } from "writ/models";
import { fakeTool, scripted } from "writ/testing";

const lookup = fakeTool("lookup", "data", { description: "Look something up" });

await test("a basic mock: the model is a function that always gives the same text", async () => {
  const subject = agent({ name: "test-agent", model: () => "42", tools: [lookup] });
  assert.equal(await subject("question"), "42");
  assert.equal(lookup.calls.length, 0);
});

await test("simulated tool calls: a counter decides what the model replies", async () => {
  let callCount = 0;
  const model: ModelFunction = () => {
    callCount += 1;
    return callCount === 1
      ? { calls: [{ name: "lookup", arguments: { query: "test" } }] }
      : "Final answer based on lookup";
  };
  const subject = agent({ name: "test-agent", model, tools: [lookup] });
  assert.equal(await subject("question"), "Final answer based on lookup");
  assert.deepEqual(lookup.calls, [{ query: "test" }]);
  assert.equal(callCount, 2);
});

await test("captured messages: what the model was sent", async () => {
  const captured: ModelRequest[] = [];
  const model: ModelFunction = (request) => {
    captured.push(request);
    return "done";
  };
  await agent({ name: "test-agent", instructions: "Be brief.", model, tools: [lookup] })("input");
  const [system, user] = captured[0]?.messages ?? [];
  assert.equal(system?.role, "system");
  assert.match(system.text, /^Be brief\./);
  assert.equal(captured[0]?.tools[0]?.description, "Look something up");
  assert.deepEqual(user, userMessage("input"));
});

await test("a script: the same with less to write, and it remembers its requests", async () => {
  const model = scripted([{ calls: [{ name: "lookup", arguments: { query: "again" } }] }, "found"]);
  assert.equal(await agent({ name: "test-agent", model, tools: [lookup] })("question"), "found");
  const last = model.requests[1]?.messages.at(-1);
  assert.ok(last?.role === "tool");
  assert.equal(last.text, '{"tool":"lookup","trusted":false,"value":"data"}'); // the tool does not declare `trusted`
  model.assertComplete();
});
