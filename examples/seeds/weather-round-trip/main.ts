// node examples/seeds/weather-round-trip/main.ts [model, such as ollama/qwen2.5:7b]
//
// Chat without a loop: the model asks for a tool, the program runs it, and sends the whole history back.
import assert from "node:assert/strict";
import { type Message, tool } from "writ";
import { modelNamed } from "writ/models";
import { callTool, chat, userMessage } from "writ/doors";
import { scripted } from "writ/testing";
import { z } from "zod";

const [, , modelName] = process.argv;

const weather = tool({
  name: "get_weather",
  description: "Get current weather for a location",
  inputSchema: z.object({ location: z.string() }),
  outputSchema: z.string(),
  effect: "read",
  execute: ({ location }) => `${location}: 18°C, partly cloudy`,
});
const tools = [weather];

const script = scripted([
  { calls: [{ id: "call_123", name: "get_weather", arguments: { location: "London" } }] },
  "The weather in London is currently 18°C and partly cloudy.",
]);
const model = modelName === undefined ? script : modelNamed(modelName);

// 1. The user's question goes out with the tools.
const question = userMessage("What's the weather like in London?");
const asked = await chat({ model, messages: [question], tools });

// 2. The reply has calls; nothing has run yet.
for (const { id, name, arguments: given } of asked.calls)
  console.log(`${asked.model} asks for ${name} ${JSON.stringify(given)} as ${id}`);
assert.equal(asked.finishReason, "tool-calls");

// 3. The caller carries out the calls. Wrong arguments would give a result too, and the tool would not run.
const results = await Promise.all(asked.calls.map((each) => callTool(tools, each)));
for (const { callId, status, text } of results) console.log(`${callId} ${status}: ${text}`);

// 4. The follow-up has the whole history: the question, the reply as it came, one result for each call.
const followUp: readonly Message[] = [question, asked.message, ...results];
const final = await chat({ model, messages: followUp, tools });

// 5. The final answer.
console.log(final.text);
assert.deepEqual(final.calls, []);
assert.match(final.text, /18/);

if (modelName === undefined) {
  const reply = [
    { type: "tool-call", id: "call_123", name: "get_weather", arguments: { location: "London" } },
  ];
  const [first, second, third] = script.requests[1]?.messages ?? [];
  assert.deepEqual(first, question);
  assert.deepEqual(second, { role: "assistant", parts: reply });
  assert.ok(third?.role === "tool" && third.callId === "call_123");
  assert.equal(third.text, "London: 18°C, partly cloudy");
}

// writ refuses a history that no provider takes before it asks the model. The error names the place.
await assert.rejects(chat({ model, messages: [question, asked.message], tools }), {
  code: "transcript-invalid",
});
