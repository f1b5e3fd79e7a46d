import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { anthropic, openaiCompatible, type SpecVersion, specVersions } from "./ai-sdk-wire.ts";
import { argumentPieces, openaiError, openaiEvents, openaiParts } from "./openai-wire.ts";
import { type Answer, playedServer, sse } from "./played-server.ts";
import {
  modelContract,
  type ModelSubject,
  type WireAbilities,
  type WireAnswer,
  type WireFailure,
  type WirePart,
} from "./model.ts";

/** How one provider's interface writes what the contract scripts say. */
interface Wire {
  readonly connect: (version: SpecVersion, url: string) => AiSdkModel;
  readonly can: (version: SpecVersion) => Partial<WireAbilities>;
  readonly events: (answer: Extract<WireAnswer, { type: "reply" }>) => readonly object[];
  /** The events of a reply that does not come to its end. */
  readonly begun: (parts: readonly WirePart[]) => readonly object[];
  readonly error: (message: string) => object;
  readonly failures: Readonly<
    Record<WireFailure, { readonly status: number; readonly message: string; readonly type: string }>
  >;
}

const failures: Wire["failures"] = {
  "model-not-found": { status: 404, type: "not_found_error", message: "model: test-model" },
  "no-tools": { status: 400, type: "invalid_request_error", message: "test-model does not support tools" },
  "refused-key": { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  "rate-limited": {
    status: 429,
    type: "rate_limit_error",
    message: "This request would exceed the rate limit",
  },
  "too-long": {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 208310 tokens > 200000 maximum",
  },
  overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  "server-error": { status: 500, type: "api_error", message: "Internal server error" },
  "bad-request": {
    status: 400,
    type: "invalid_request_error",
    message: "messages: at least one message is required",
  },
};

const openaiWire: Wire = {
  connect: openaiCompatible,
  // The package of V2 itself refuses calls without an id.
  can: (version) => ({ missingUsage: true, missingCallIds: version !== "v2" }),
  events: openaiEvents,
  begun: openaiParts,
  error: openaiError,
  failures,
};

function anthropicBlock(part: WirePart, index: number): readonly object[] {
  const start = (block: object): object => ({ type: "content_block_start", index, content_block: block });
  const delta = (delta: object): object => ({ type: "content_block_delta", index, delta });
  const stop = { type: "content_block_stop", index };
  if (part.type === "text") {
    const pieces = part.pieces.map((text) => delta({ type: "text_delta", text }));
    return [start({ type: "text", text: "" }), ...pieces, stop];
  }
  if (part.type === "reasoning") {
    const pieces = part.pieces.map((thinking) => delta({ type: "thinking_delta", thinking }));
    const signature = delta({ type: "signature_delta", signature: "c2ln" });
    return [start({ type: "thinking", thinking: "", signature: "" }), ...pieces, signature, stop];
  }
  const pieces = argumentPieces(part).map((piece) =>
    delta({ type: "input_json_delta", partial_json: piece }),
  );
  return [start({ type: "tool_use", id: part.id, name: part.name, input: {} }), ...pieces, stop];
}

function anthropicBegun(parts: readonly WirePart[], inputTokens = 1): readonly object[] {
  const usage = { input_tokens: inputTokens, output_tokens: 1 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "test-model",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  return [{ type: "message_start", message }, ...parts.flatMap(anthropicBlock)];
}

const anthropicWire: Wire = {
  connect: anthropic,
  // The interface always counts tokens, and always gives calls an id.
  can: () => ({ missingUsage: false, missingCallIds: false }),
  events({ parts, finishReason, usage }) {
    const called = parts.some((part) => part.type === "call");
    const stop_reason = finishReason === "length" ? "max_tokens" : called ? "tool_use" : "end_turn";
    return [
      ...anthropicBegun(parts, usage?.inputTokens),
      {
        type: "message_delta",
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: usage?.outputTokens ?? 1 },
      },
      { type: "message_stop" },
    ];
  },
  // A thinking or text block that does not come to its end: without the event that closes it.
  begun: (parts) =>
    anthropicBegun(parts).filter((event) => !("type" in event) || event.type !== "content_block_stop"),
  error: (message) => ({ type: "error", error: { type: "api_error", message } }),
  failures,
};

function answerOf(wire: Wire, answer: WireAnswer): Answer {
  switch (answer.type) {
    case "reply":
      return { sse: sse(wire.events(answer), wire === openaiWire) };
    case "failure": {
      const { status, message, type } = wire.failures[answer.failure];
      return { status, json: { type: "error", error: { type, message } } };
    }
    case "mid-stream-error":
      return { sse: sse([...wire.begun(answer.parts), wire.error(answer.message)]) };
    case "stall":
      return { sse: sse(wire.begun(answer.parts)), after: "hang" };
    case "cut":
      return { sse: sse(wire.begun(answer.parts)), after: "cut" };
    case "unreachable":
      return {};
    default:
      throw new TypeError("no such answer");
  }
}

function subjectOf(wire: Wire, version: SpecVersion): ModelSubject {
  return {
    scripted: true,
    can: {
      calls: true,
      reasoning: true,
      usage: true,
      missingUsage: true,
      callIds: true,
      missingCallIds: true,
      textArguments: true,
      failures: [
        "model-not-found",
        "no-tools",
        "refused-key",
        "rate-limited",
        "too-long",
        "overloaded",
        "server-error",
        "bad-request",
      ],
      midStreamErrors: true,
      cut: true,
      stall: true,
      unreachable: true,
      ...wire.can(version),
    },
    async open(script) {
      const server = await playedServer();
      server.play(...script.map((answer) => answerOf(wire, answer)));
      if (script[0]?.type === "unreachable") await server.close();
      return {
        model: aiSdk(wire.connect(version, server.url)),
        bodies: () => server.requests.map(({ body }) => body),
        dropped: server.dropped,
        close: server.close,
      };
    },
  };
}

for (const version of specVersions) {
  modelContract(`AI SDK ${version}, OpenAI-compatible`, subjectOf(openaiWire, version));
  modelContract(`AI SDK ${version}, Anthropic`, subjectOf(anthropicWire, version));
}
