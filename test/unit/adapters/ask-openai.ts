import type { Model, Delta, ModelRequest } from "../../../src/model/model.ts";
import { userMessage } from "../../../src/message/message.ts";
import { openaiChunk } from "../../contract/openai-wire.ts";
import { type Answer, sse } from "../../contract/played-server.ts";

/** A tool for requests. */
export const addTool = {
  name: "add",
  description: "Add",
  inputSchema: { type: "object", properties: { a: { type: "number" } } },
} as const;

/** A streamed reply of a text. */
export function said(text: string): Answer {
  return { sse: sse([openaiChunk({ content: text }), openaiChunk({}, "stop")], true) };
}

/** Asks once, and gives all that comes. */
export async function ask(asked: Model, overrides: Partial<ModelRequest> = {}): Promise<readonly Delta[]> {
  const request = {
    messages: [userMessage("x")],
    tools: [],
    toolChoice: "auto",
    settings: {},
    ...overrides,
  } as const;
  const deltas: Delta[] = [];
  for await (const delta of asked.stream(request, { signal: new AbortController().signal }))
    deltas.push(delta);
  return deltas;
}
