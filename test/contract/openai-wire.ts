import type { WireAnswer, WirePart } from "./wire.ts";

/** The text of arguments in two pieces, as providers stream it. */
export function argumentPieces(call: Extract<WirePart, { type: "call" }>): readonly [string, string] {
  const text = "text" in call.arguments ? call.arguments.text : JSON.stringify(call.arguments.value);
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** A chunk of a streamed chat completion. */
export function openaiChunk(delta: object, finishReason: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "test-model", choices };
}

/** Parts of a reply as chunks of a chat completion. */
export function openaiParts(parts: readonly WirePart[]): readonly object[] {
  let calls = 0;
  return parts.flatMap((part) => {
    if (part.type === "text") return part.pieces.map((content) => openaiChunk({ content }));
    if (part.type === "reasoning")
      return part.pieces.map((piece) => openaiChunk({ reasoning_content: piece }));
    const index = calls;
    calls += 1;
    const [first, rest] = argumentPieces(part);
    const head = { index, id: part.id, type: "function", function: { name: part.name, arguments: first } };
    return [
      openaiChunk({ tool_calls: [head] }),
      openaiChunk({ tool_calls: [{ index, function: { arguments: rest } }] }),
    ];
  });
}

function openaiUsage({
  inputTokens,
  outputTokens,
}: {
  readonly inputTokens: number;
  readonly outputTokens: number;
}): object {
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  return { ...openaiChunk({}), choices: [], usage };
}

/** A whole reply as chunks. */
export function openaiEvents({
  parts,
  finishReason,
  usage,
}: Extract<WireAnswer, { type: "reply" }>): readonly object[] {
  const called = parts.some((part) => part.type === "call");
  const counted = usage === undefined ? [] : [openaiUsage(usage)];
  return [
    openaiChunk({ role: "assistant", content: "" }),
    ...openaiParts(parts),
    openaiChunk({}, finishReason ?? (called ? "tool_calls" : "stop")),
    ...counted,
  ];
}

/** An error among the chunks. */
export function openaiError(message: string): object {
  return { error: { message, type: "server_error", param: null, code: null } };
}
