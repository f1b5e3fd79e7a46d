// node examples/seeds/support-bot/main.ts
//
// The model sees knowledge by name and description. writ loads it when the model calls it, and not before.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agent, knowledge, skill, tool } from "writ";
import { knowledgeFile } from "writ/files";
import { scripted } from "writ/testing";
import { z } from "zod";

const loads: string[] = [];

async function loadText(name: string): Promise<string> {
  loads.push(name);
  return readFile(join(import.meta.dirname, name), "utf8");
}

const answers = new Map([
  ["open", "Monday to Friday, 9 to 17 o'clock."],
  ["address", 'Under "My account".'],
]);

const lookupFaq = tool({
  name: "lookup_faq",
  description: "Search the FAQ database",
  inputSchema: z.object({ query: z.string() }),
  effect: "read",
  execute: ({ query }) => answers.get(query) ?? "nothing found",
});

const answer = skill({
  name: "answer",
  description: "Answer support questions",
  tools: [lookupFaq],
  knowledge: [
    knowledge({
      name: "faq",
      description: "Frequently asked questions",
      load: () => loadText("faq.txt"),
    }),
    knowledgeFile(join(import.meta.dirname, "policies.txt"), { description: "Company policies" }),
  ],
});

const model = scripted([
  { calls: [{ name: "lookup_faq", arguments: { query: "open" } }] },
  "We are open from Monday to Friday.",
  { calls: [{ name: "policies" }] },
  "Yes, within 30 days and at our cost.",
  { calls: [{ name: "lookup_faq", arguments: { query: "parcel" } }] },
  { calls: [{ name: "faq" }] },
  "Your e-mail of dispatch has a link.",
]);

const bot = agent({ name: "support-bot", model, skills: [answer] });

/** Asks, and returns the knowledge that was used for the answer. */
async function ask(question: string): Promise<readonly string[]> {
  console.log(`\n${question}`);
  const used: string[] = [];
  for await (const event of bot.stream(question)) {
    if (event.type === "tool-end" || event.type === "knowledge-used") {
      used.push(`${event.type} ${event.name}`);
      console.log(`  ${event.type} ${event.name}: ${event.result.text.split("\n", 1)[0]}`);
    }
    if (event.type === "run-end" && event.outcome.type === "answered") console.log(event.outcome.content);
  }
  return used;
}

assert.deepEqual(await ask("When are you open?"), ["tool-end lookup_faq"]);
const [first] = model.requests;
assert.deepEqual(
  first?.tools.map(({ name }) => name),
  ["lookup_faq", "faq", "policies"],
);
assert.doesNotMatch(JSON.stringify(first), /parcel|Returns/); // the names, not the texts

assert.deepEqual(await ask("Can I send it back?"), ["knowledge-used policies"]);
assert.match(JSON.stringify(model.requests[3]?.messages), /within 30 days, unused/);

assert.deepEqual(loads, []); // three calls, and the FAQ was not read yet
assert.deepEqual(await ask("Where is my parcel?"), ["tool-end lookup_faq", "knowledge-used faq"]);
assert.deepEqual(loads, ["faq.txt"]);

console.log("\nThe FAQ was read once: when the model called for it.");
