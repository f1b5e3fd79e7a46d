// node examples/seeds/executor/main.ts
//
// The steps of a call, in order: a hook before it, the check of its arguments, the tool, a hook after it, events.
import assert from "node:assert/strict";
import { agent, type Hook, tool } from "writ";
import { execute } from "writ/doors";
import { scripted } from "writ/testing";
import { z } from "zod";

const steps: string[] = [];

const greet = tool({
  name: "greet",
  description: "Greets somebody",
  inputSchema: z.object({ name: z.string() }),
  effect: "none",
  execute({ name }, { callId }) {
    steps.push(`run ${callId}`);
    if (name === "nobody") throw new Error("there is nobody");
    return `Hello ${name}`;
  },
});

const hook: Hook = {
  beforeToolCall({ callId, arguments: given }) {
    steps.push(`before ${callId}`);
    const { name } = Object(given) as { readonly name?: unknown };
    if (name === "stranger") return { deny: "strangers are not greeted" };
    return name === "kim" ? { arguments: { name: "Kim" } } : undefined; // the hook's arguments are checked too
  },
  afterToolCall({ callId, result }) {
    steps.push(`after ${callId}`);
    return { result: { ...result, text: `${result.text}!` } };
  },
};

const call = (id: string, given: object) => ({ id, name: "greet", arguments: { ...given } });
const calls = [
  call("1", { name: "kim" }),
  call("2", {}),
  call("3", { name: "stranger" }),
  call("4", { name: "nobody" }),
];
const greeter = agent({
  name: "greeter",
  model: scripted([{ calls }, "Done."]),
  tools: [greet],
  hooks: [hook],
  concurrency: 1,
  on: {
    "tool-start": ({ callId }) => steps.push(`start ${callId}`),
    "tool-end": ({ callId, result }) => steps.push(`end ${callId}: ${result.text.split(". ")[0]}`),
  },
});
await greeter("Greet everybody.");
console.log(steps.join("\n"));
assert.deepEqual(
  steps.filter((step) => step.includes(" 1")),
  ["before 1", "start 1", "run 1", "after 1", "end 1: Hello Kim!"],
);
assert.ok(!steps.includes("run 2") && !steps.includes("run 3"));
assert.ok(
  steps.includes("end 2: Tool 'greet' received invalid arguments: Missing required parameters: name"),
);
assert.ok(steps.includes("end 3: Tool 'greet' was denied: strangers are not greeted"));
assert.ok(steps.includes("end 4: Tool 'greet' failed: there is nobody!"));

// The executor alone, without a model.
const alone = await execute({
  calls: [
    { type: "tool-call", id: "a", name: "greet", arguments: { name: "nobody" } },
    { type: "tool-call", id: "b", name: "greet", arguments: { name: "Kim" } },
  ],
  tools: [greet],
  concurrency: 1,
  endOn: ["tool-failure"],
});
console.log(alone.map(({ callId, status }) => `${callId} ${status}`).join(", "));
assert.deepEqual(
  alone.map(({ status }) => status),
  ["error", "skipped"],
);
