// node examples/seeds/command-line/main.ts
//
// A driver for a model that cannot write a whole JSON object: one line is a call, with @tool, a name and arguments as JSON.
import assert from "node:assert/strict";
import { agent, tool } from "writ";
import { commandDriver, type Driver, jsonDriver } from "writ/drivers";
import { scripted } from "writ/testing";
import { z } from "zod";

const searched: string[] = [];

const search = tool({
  name: "kom.memory.v1.search_memory",
  description: "Search the notes of a namespace",
  inputSchema: z.object({ namespace: z.string(), query: z.object({ text: z.string() }) }),
  effect: "read",
  trusted: true,
  execute({ namespace, query }) {
    searched.push(query.text);
    return `one note in ${namespace}`;
  },
});

const args = '{"namespace":"project:metal", "query":{"text":"embedding model"}}';
const line = `@tool kom.memory.v1.search_memory ${args}`;
const features = { tools: false };

const finder = agent({ name: "finder", model: () => "", driver: commandDriver(), tools: [search] });

/** Plays replies. Returns the words that the model was told after each, and the answer. */
async function play(replies: readonly string[], driver?: Driver): Promise<readonly unknown[]> {
  const model = scripted(replies, { features, whenDone: "throw" });
  const answer = await finder.with(driver === undefined ? { model } : { model, driver })(
    "Find the notes on embedding models.",
  );
  const told = model.requests.slice(1).map(({ messages }) => {
    const last = messages.at(-1);
    const [part] = last?.role === "user" ? last.parts : [];
    return part?.type === "text" ? part.text.split(". ")[0] : undefined;
  });
  console.log([...told, answer].join("\n"), "\n");
  return told;
}

const result = "Result of kom.memory.v1.search_memory: one note in project:metal";
assert.deepEqual(await play([line, "There is one note."]), [result]);

// Words beside the command, arguments that are not JSON, an unknown tool: the model is told, and nothing runs.
searched.length = 0;
const told = await play([
  `I look.\n${line}`,
  `@tool kom.memory.v1.search_memory {"namespace":`,
  `@tool kom.memory.v1.erase {}`,
  line,
  "There is one note.",
]);
assert.match(String(told[2]), /Tool 'kom.memory.v1.erase' is not allowed/);
assert.deepEqual([told.at(-1), searched], [result, ["embedding model"]]);

// The JSON protocol takes such a line too, unless it is strict.
const inJson = jsonDriver({ mode: "safe" });
const asJson = await play([line, '{"final":{"content":"There is one note."}}'], inJson);
assert.match(String(asJson[0]), /one note in project:metal/);
console.log("A line is enough.");
