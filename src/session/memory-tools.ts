import type { JsonSchema } from "../schema/schema.ts";
import { isPlain } from "../message/label.ts";
import { type Labelled, labelled } from "../tool/labelled.ts";
import { tool, type Tool } from "../tool/tool.ts";
import type { JsonObject } from "../util/json.ts";
import { linesWith, type MemoryBank } from "./memory-bank.ts";

/**
 * The tools with which a model uses one slot of a memory: `memory_read`, `memory_write` and `memory_search`. In one turn they run in the
 * order of their calls, so that a read sees earlier writes.
 *
 * An agent with a `memory` already has them, for the slot of its name.
 */
export function memoryTools(bank: MemoryBank, slot: string): readonly Tool[] {
  async function recalled(partOf: (text: string) => string): Promise<Labelled<string>> {
    const { text, label } = await bank.recall(slot);
    const part = partOf(text);
    if (isPlain(label)) return labelled(part, {});
    return labelled(part, { ...label, sources: [...label.sources, `memory/${slot}`] });
  }
  const tools: readonly Tool[] = [
    tool({
      name: "memory_read",
      description: "Read your whole memory: what you wrote down before, in this run or in earlier ones.",
      inputSchema: textFields(),
      effect: "read",
      execute: async () => recalled((text) => text),
    }),
    tool({
      name: "memory_write",
      description:
        "Write your memory. The content takes the place of everything in it: to add something, read first, then write the old and the new.",
      inputSchema: textFields("content"),
      effect: "write",
      execute: async (args, context) => {
        const content = textIn(args, "content");
        const kept = await bank.write(slot, content, () => context.label);
        return kept === content
          ? "Saved."
          : "Saved, but shortened: the memory does not keep so much. Read it to see.";
      },
    }),
    tool({
      name: "memory_search",
      description: "Find the lines of your memory that contain a text; upper and lower case are the same.",
      inputSchema: textFields("query"),
      effect: "read",
      execute: async (args) => recalled((text) => linesWith(textIn(args, "query"), text)),
    }),
  ];
  return tools.map((made) => ({ ...made, kind: "memory", trusted: true, exclusiveKey: () => "memory" }));
}

/** The text of an argument; empty without one. */
export function textIn(args: JsonObject, name: string): string {
  const text = args[name];
  return typeof text === "string" ? text : "";
}

function textFields(...names: readonly string[]): JsonSchema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  return { type: "object", properties, required: names, additionalProperties: false };
}
