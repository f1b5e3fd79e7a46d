import { expect } from "vitest";
import { callsOf, type ReplyMessage } from "../../src/message/message.ts";
import type { Reply } from "../../src/model/assemble.ts";
import type { Said } from "./ai-sdk-recordings.ts";

function written(message: ReplyMessage, type: "text" | "reasoning"): string {
  return message.parts.map((part) => (part.type === type ? part.text : "")).join("");
}

/** The text of every string in the metadata of the parts. */
function metadataOf(message: ReplyMessage): readonly string[] {
  const found: string[] = [];
  for (const part of message.parts) {
    if (part.type === "provider") continue;
    JSON.stringify(part.providerMetadata ?? {}, (_key, value: unknown) =>
      typeof value === "string" ? found.push(value) && value : value,
    );
  }
  return found;
}

/** Fails where a reply is not what its recording says. */
export function expectSame({ message, finishReason, usage }: Reply, said: Partial<Said>): void {
  expect(written(message, "text")).toBe(said.text);
  expect(written(message, "reasoning")).toBe(said.reasoning);
  const calls = callsOf(message).map(({ name, arguments: args, malformed }) => ({
    name,
    arguments: args,
    malformed,
  }));
  if (said.calls === undefined) {
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter(({ malformed }) => malformed !== undefined)).toEqual([]);
  } else expect(calls).toEqual(said.calls.map((call) => ({ ...call, malformed: undefined })));
  if (said.inputTokens !== undefined)
    expect(usage).toMatchObject({ inputTokens: said.inputTokens, outputTokens: said.outputTokens });
  if (said.finishReason !== undefined) expect(finishReason).toBe(said.finishReason);
  expect(metadataOf(message)).toEqual(expect.arrayContaining([...(said.signatures ?? [])]));
}
