// node examples/seeds/search/main.ts
//
// A tool that accepts numbers as text and missing values. The model is told of arguments that cannot be meant so.
import assert from "node:assert/strict";
import { agent, tool } from "writ";
import { scripted } from "writ/testing";
import { z } from "zod";

const asked: unknown[] = [];

const search = tool({
  name: "search",
  description: "Search the web",
  inputSchema: z.object({ query: z.string(), max_results: z.number().int().default(10) }),
  effect: "read",
  execute(given) {
    asked.push(given);
    return `${given.max_results} pages about ${given.query}`;
  },
});

const given: readonly Record<string, string | number>[] = [
  { query: "tea" },
  { query: "tea", max_results: "3" },
  { max_results: 3 },
  { query: "tea", max_results: "many" },
];
const model = scripted([{ calls: given.map((args) => ({ name: "search", arguments: args })) }, "Found."]);
const { transcript } = await agent({ name: "searcher", model, tools: [search] }).run("Find tea.");

const results = transcript.messages.filter((message) => message.role === "tool");
for (const { status, text } of results) console.log(`${status}: ${text.split(". ")[0]}`);
assert.deepEqual(
  results.map(({ status }) => status),
  ["ok", "ok", "invalid", "invalid"],
);
assert.match(results[2]?.text ?? "", /Missing required parameters: query/);
assert.deepEqual(asked, [
  { query: "tea", max_results: 10 },
  { query: "tea", max_results: 3 },
]);
console.log("Two of four calls ran.");
