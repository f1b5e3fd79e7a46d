// node examples/seeds/mcp-registry/main.ts
//
// The registry of an MCP server: its tools with their schemas stand in the prompt of a model that has no native calls.
import assert from "node:assert/strict";
import { agent } from "writ";
import { jsonDriver } from "writ/drivers";
import { mcpTools } from "writ/mcp";
import { scripted } from "writ/testing";

const inputSchema = {
  type: "object",
  properties: { namespace: { type: "string" }, text: { type: "string" } },
  required: ["namespace", "text"],
} as const;

const sent: unknown[] = [];
const client = {
  listTools: async () => ({
    tools: [{ name: "memory.v1.search_memory", description: "Search notes", inputSchema }],
  }),
  callTool: async (call: unknown) => {
    sent.push(call);
    return { content: [{ type: "text", text: "one note" }] };
  },
};

const tools = await mcpTools(client, { server: "kom" });
const action = (args: object): string =>
  JSON.stringify({ action: { tool: "kom/memory.v1.search_memory", args } });
const model = scripted(
  [
    action({ namespace: "project:metal" }),
    action({ namespace: "project:metal", text: "embedding" }),
    '{"final":{"content":"There is one note."}}',
  ],
  { features: { tools: false } },
);
const finder = agent({ name: "finder", model, tools, driver: jsonDriver({ show: "schemas" }) });
console.log(await finder("What do we know of embeddings?"));

const [system] = model.requests[0]?.messages ?? [];
assert.ok(system?.role === "system");
assert.ok(system.text.includes("kom/memory.v1.search_memory"));
assert.ok(system.text.includes(JSON.stringify(inputSchema.properties).slice(1, -1))); // the schema to the letter
assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /Missing required parameters: text/);
console.log(sent);
assert.equal(sent.length, 1);
console.log("One call reached the server: the one that fits its schema.");
