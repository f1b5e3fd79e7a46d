// node examples/catalogue/main.ts
//
// A catalogue of three hundred tools. The model is told of one tool, which searches: it looks for the tool that it needs, then calls that.
import assert from "node:assert/strict";
import { agent, tool } from "writ";
import { scripted } from "writ/testing";
import { toolCatalogue } from "writ/tools";
import { z } from "zod";

const places = ["crm", "shop", "office", "bank", "store", "depot", "lab", "school", "clinic", "hotel"];
const things = ["bill", "customer", "meeting", "ticket", "contract"];
const verbs = ["create", "update", "delete", "list", "archive", "export"];

const tools = places.flatMap((place) =>
  things.flatMap((thing) =>
    verbs.map((verb) =>
      tool({
        name: `${place}/${verb}_${thing}`,
        description: `Use it to ${verb} a ${thing} of the ${place}`,
        inputSchema: z.object({ id: z.string().describe(`Which ${thing}`), reason: z.string().optional() }),
        execute: ({ id }) => `${place}: ${verb} ${thing} ${id}`,
      }),
    ),
  ),
);

const model = scripted([
  { calls: [{ name: "find_tools", arguments: { query: "archive bank contract" } }] },
  { calls: [{ name: "bank/archive_contract", arguments: { id: "7" } }] },
  { calls: [{ name: "bank/rob", arguments: {} }] }, // no list has this tool
  "Contract 7 is archived.",
]);
const clerk = agent({ name: "clerk", model, tools: [toolCatalogue({ tools, limit: 3 })] });
const { text, transcript } = await clerk.run("Archive contract 7 of the bank.");

for (const message of transcript.messages)
  if (message.role === "tool") console.log(`${message.status}: ${message.text}\n`);
for (const [index, request] of model.requests.entries())
  console.log(
    `request ${index + 1} offers ${request.tools.length}: ${request.tools.map(({ name }) => name).join(", ")}`,
  );

assert.equal(tools.length, 300);
assert.deepEqual(
  model.requests.map((request) => request.tools.length),
  [1, 4, 4, 4],
);
assert.deepEqual(
  transcript.messages.flatMap((message) => (message.role === "tool" ? [message.status] : [])),
  ["ok", "ok", "denied"],
);
console.log(text);
