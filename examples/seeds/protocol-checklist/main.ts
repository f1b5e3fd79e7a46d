// node examples/seeds/protocol-checklist/main.ts
//
// Four checks of a protocol in a prompt, each with a model that makes a mistake first.
import assert from "node:assert/strict";
import { agent, tool } from "writ";
import { scripted } from "writ/testing";
import { z } from "zod";

let runs = 0;
const price = tool({
  name: "price",
  description: "The price of a tea",
  inputSchema: z.object({ tea: z.string() }),
  effect: "read",
  trusted: true,
  execute() {
    runs += 1;
    return 3;
  },
});

const action = (name: string, args: unknown): string => JSON.stringify({ action: { tool: name, args } });
const call = action("price", { tea: "green" });
const done = JSON.stringify({ final: { content: "It costs 3." } });

/** Returns the words that the model was told after its first reply, the number of times the tool ran, and the answer. */
async function check(title: string, first: string): Promise<string> {
  runs = 0;
  const model = scripted([first, call, done], { features: { tools: false } });
  const answer = await agent({ name: "shop", model, driver: "json", tools: [price] })(
    "What does green tea cost?",
  );
  const last = model.requests[1]?.messages.at(-1);
  const [part] = last?.role === "user" ? last.parts : [];
  const told = part?.type === "text" ? part.text : "";
  console.log(`${title}\n  ${told.split("\n", 1)[0]?.slice(0, 140) ?? ""}`);
  assert.equal(answer, "It costs 3.");
  assert.equal(runs, 1, title);
  return told;
}

const notJson = await check(
  "invalid JSON: rejected, asked to send it again",
  '{"action": {"tool": "price", ',
);
assert.match(notJson, /^Your reply was not accepted: .*Send it again/s);
const talk = await check("words around the object: the same", `Sure! ${call}`);
assert.match(talk, /^Your reply was not accepted: /);
const unknown = await check("unknown tool: rejected", action("prices", {}));
assert.match(unknown, /Tool 'prices' is not allowed for skill 'shop'\. Allowed: \[price\]/);
const mismatch = await check(
  "arguments that do not match: the schema is shown",
  action("price", { name: "green" }),
);
assert.match(mismatch, /must match this JSON Schema: .*tea/s);

// Several steps: the next turn works with the result of the tool.
const model = scripted(
  [
    call,
    ({ messages }) => JSON.stringify({ final: { content: JSON.stringify(messages.at(-1)).includes("3") } }),
  ],
  { features: { tools: false } },
);
assert.equal(
  await agent({ name: "shop", model, driver: "json", tools: [price] })("What does green tea cost?"),
  true,
);
console.log("The result was there in the next turn.");
