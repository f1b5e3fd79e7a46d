// node examples/seeds/weather-data/main.ts
//
// A tool as plain data: name, description, two schemas. The program carries out its calls, and checks arguments and results against the schemas.
import assert from "node:assert/strict";
import type { Message } from "writ";
import { chat, userMessage } from "writ/doors";
import { scripted } from "writ/testing";
import { validateCall, validateResult } from "writ/tools";

const weather = {
  name: "get_weather",
  description: "Get current weather for a location",
  inputSchema: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
  outputSchema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
} as const;

const stations = new Map<unknown, object>([
  ["London", { celsius: 18 }],
  ["Paris", { celsius: "warm" }],
]);

const model = scripted([
  {
    calls: [
      { id: "call_1", name: "get_weather", arguments: { location: "London" } },
      { id: "call_2", name: "get_weather", arguments: { city: "London" } },
      { id: "call_3", name: "get_weather", arguments: { location: "Paris" } },
    ],
  },
  "It is 18°C in London.",
]);

const question = userMessage("What's the weather like in London and Paris?");
const reply = await chat({ model, messages: [question], tools: [weather] });
assert.deepEqual(model.requests[0]?.tools, [
  { name: weather.name, description: weather.description, inputSchema: weather.inputSchema },
]);

/** Returns the result of a call. A mistake in the call becomes a result for the model. */
async function carryOut({ name, arguments: given }: (typeof reply.calls)[number]) {
  const call = await validateCall(weather, given);
  if (!call.ok) return { name, status: "invalid", text: call.text } as const;
  const result = await validateResult(weather, stations.get(Object(call.value).location));
  return {
    name,
    status: result.ok ? "ok" : "error",
    text: result.ok ? JSON.stringify(result.value) : result.text,
  } as const;
}

const results: Message[] = [];
for (const call of reply.calls) {
  const result = await carryOut(call);
  console.log(`${call.id} ${result.status}: ${result.text.split(". ")[0]}`);
  results.push({ role: "tool", callId: call.id, ...result });
}
assert.deepEqual(
  results.map((message) => message.role === "tool" && message.status),
  ["ok", "invalid", "error"],
);

// Ids match results to calls, in any order.
const final = await chat({
  model,
  messages: [question, reply.message, ...results.toReversed()],
  tools: [weather],
});
console.log(final.text);
await assert.rejects(chat({ model, messages: [question, reply.message, ...results.slice(1)] }), {
  code: "transcript-invalid",
});
