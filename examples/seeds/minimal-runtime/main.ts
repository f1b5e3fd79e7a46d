// node examples/seeds/minimal-runtime/main.ts
//
// The smallest runtime by hand: ask, read one JSON object, run the tool of that name, send back the result. writ still checks the schemas.
import assert from "node:assert/strict";
import { type Message, tool } from "writ";
import { callTool, chat, userMessage } from "writ/doors";
import { scripted } from "writ/testing";
import { z } from "zod";

const notes: string[] = [];
const upsert = tool({
  name: "kom.memory.v1.upsert_memory",
  description: "Save notes",
  inputSchema: z.object({ items: z.array(z.object({ text: z.string() })) }),
  effect: "write",
  execute: ({ items }) => ({ upserted: notes.push(...items.map(({ text }) => text)) }),
});
const registry = [upsert];

const reply = z.union([
  z
    .object({ thought: z.string().optional(), action: z.object({ tool: z.string(), args: z.json() }) })
    .strict(),
  z.object({ final: z.object({ content: z.json() }) }).strict(),
]);

/** Asks until the model is done. */
async function run(task: string, replies: readonly string[]): Promise<unknown> {
  const model = scripted(replies, { whenDone: "throw" });
  const messages: Message[] = [userMessage(task)];
  for (let turn = 1; turn <= 8; turn += 1) {
    const { text, message } = await chat({ model, messages });
    console.log(`assistant: ${text}`);
    const read = reply.safeParse(JSON.parse(text));
    if (!read.success) throw new Error("Invalid protocol");
    if ("final" in read.data) return read.data.final.content;
    const { tool: name, args } = read.data.action;
    const result = await callTool(registry, { name, arguments: args });
    const told = JSON.stringify({ tool: name, status: result.status, content: result.value ?? result.text });
    console.log(`tool: ${told}`);
    messages.push(message, userMessage(told));
  }
  throw new Error("out of turns");
}

const action = (name: string, args: unknown): string =>
  JSON.stringify({ thought: "I save it", action: { tool: name, args } });
const content = await run("Save this note: tea", [
  action("kom.memory.v1.upsert_memory", { items: [{ text: "tea" }] }),
  action("kom.memory.v1.upsert_memory", { items: "tea" }),
  action("kom.memory.v1.delete_all", {}),
  '{"final":{"content":{"status":"ok","upserted":1}}}',
]);
assert.deepEqual(content, { status: "ok", upserted: 1 });
assert.deepEqual(notes, ["tea"]); // once: the second call did not match, the third has no tool
await assert.rejects(run("Save it", ['{"answer":"saved"}']), { message: "Invalid protocol" });
console.log("What is neither an action nor the end is no reply.");
