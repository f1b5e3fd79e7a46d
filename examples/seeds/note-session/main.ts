// node examples/seeds/note-session/main.ts
//
// A model without tools of its own keeps to a protocol: each reply is one JSON object, a call or the end. Anything else is sent back.
import assert from "node:assert/strict";
import { agent, type Message, tool } from "writ";
import { scripted } from "writ/testing";
import { z } from "zod";

const notes = new Map<string, readonly string[]>();

const upsert = tool({
  name: "kom.memory.v1.upsert_memory",
  description: "Save notes into a namespace",
  inputSchema: z.object({
    namespace: z.string(),
    items: z.array(z.object({ text: z.string() })),
  }),
  effect: "write",
  trusted: true,
  execute({ namespace, items }) {
    notes.set(namespace, [...(notes.get(namespace) ?? []), ...items.map(({ text }) => text)]);
    return { upserted: items.length };
  },
});

const action = JSON.stringify({
  thought: "need to upsert note",
  action: {
    tool: "kom.memory.v1.upsert_memory",
    args: { namespace: "project:metal", items: [{ text: "Embedding model comparison takeaways" }] },
  },
});
const model = scripted(
  [
    `Sure! ${action}`, // words around the object: not accepted
    action,
    '{"final":{"content":{"status":"ok","upserted":1}}}',
  ],
  { features: { tools: false }, whenDone: "throw" },
);

const noteTaker = agent({
  name: "note-taker",
  model,
  driver: "json",
  tools: [upsert],
  output: z.object({ status: z.enum(["ok", "failed"]), upserted: z.number() }),
});

const task = 'Save this note: "Embedding model comparison takeaways" into project:metal';
const { output, transcript } = await noteTaker.run(task);

/** A message as it was written. */
function wordsOf(message: Message): string {
  if (message.role === "assistant") return message.raw ?? "";
  if (message.role !== "user") return message.text;
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

const session = transcript.messages.slice(1).map((message) => `${message.role}: ${wordsOf(message)}`);
console.log(session.join("\n"));

assert.equal(session.length, 6);
assert.match(
  session[2] ?? "",
  /^user: Your reply was not accepted: .* Send it again as exactly one JSON object/,
);
assert.equal(session[4], 'tool: {"upserted":1}');
assert.equal(session[5], 'assistant: {"final":{"content":{"status":"ok","upserted":1}}}');
assert.deepEqual(output, { status: "ok", upserted: 1 });
assert.deepEqual(notes.get("project:metal"), ["Embedding model comparison takeaways"]); // once, though it was sent twice

// The model has the result in the same words: one JSON object.
const last = model.requests[2]?.messages.at(-1);
assert.ok(last);
assert.equal(wordsOf(last), '{"tool":"kom.memory.v1.upsert_memory","result":{"upserted":1}}');
