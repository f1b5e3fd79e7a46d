import type { Json, JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import { needsSignatures, refuseContent } from "./gemini-rules.ts";
import {
  eventStream,
  numberedIds,
  piecesOf,
  type Provider,
  type ProviderError,
  signatureOf,
  wholeBody,
  type Wire,
  type WireReply,
} from "./wire.ts";

const content: Wire = {
  path: /^\/v1(?:beta|alpha)?\/models\/[^/:]+:(?:generateContent|streamGenerateContent)$/,
  refuse: refuseContent,
  reply(reply, request) {
    const parts = partsOf(reply, request);
    const last = ending(reply, request);
    if (!request.path.includes(":streamGenerateContent"))
      return wholeBody(responseOf(parts.map(wholePart), last));
    const chunks = parts.flatMap(pieces).map((part) => responseOf([part], { ...last, finish: undefined }));
    const responses = [...chunks, responseOf([{ text: "" }], last)];
    if (/[?&]alt=sse(?:&|$)/.test(request.path)) return eventStream(responses);
    const texts = responses.map(
      (response, index) => `${index === 0 ? "[" : ",\n"}${JSON.stringify(response)}`,
    );
    return { contentType: "application/json", chunks: [...texts, "]"] };
  },
};

/** Gemini: `generateContent` and `streamGenerateContent`. */
export function geminiProvider(): Provider {
  return { wires: [content], callId: numberedIds("call_"), error: errorOf };
}

function errorOf({ status, message, param, retryAfter }: ProviderError): Json {
  const [name, usual] = usualErrors.get(status) ?? ["INTERNAL", "An internal error has occurred."];
  const type = "type.googleapis.com/google.rpc";
  const said = message ?? usual;
  const details: JsonObject[] = [];
  if (param !== undefined) {
    const violation = { ...(param === "" ? {} : { field: param }), description: said };
    details.push({ "@type": `${type}.BadRequest`, fieldViolations: [violation] });
  }
  if (retryAfter !== undefined) details.push({ "@type": `${type}.RetryInfo`, retryDelay: `${retryAfter}s` });
  return {
    error: { code: status, message: said, status: name, ...(details.length === 0 ? {} : { details }) },
  };
}

const usualErrors: ReadonlyMap<number, readonly [status: string, message: string]> = new Map([
  [400, ["INVALID_ARGUMENT", "Request contains an invalid argument."]],
  [401, ["UNAUTHENTICATED", "Request had invalid authentication credentials."]],
  [
    403,
    [
      "PERMISSION_DENIED",
      "Method doesn't allow unregistered callers (callers without established identity).",
    ],
  ],
  [404, ["NOT_FOUND", "The model is not found for API version v1beta."]],
  [
    429,
    ["RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."],
  ],
  [500, ["INTERNAL", "An internal error has occurred. Please retry."]],
  [503, ["UNAVAILABLE", "The model is overloaded. Please try again later."]],
]);

const finishReasons: ReadonlyMap<string, string> = new Map([
  ["length", "MAX_TOKENS"],
  ["content-filter", "SAFETY"],
]);

/** The fields of a response beside its parts. */
interface Ending {
  readonly reply: WireReply;
  readonly model: string;
  /** Left out of all responses of a stream except the last. */
  readonly finish: string | undefined;
}

function ending(reply: WireReply, { path }: FakeRequest): Ending {
  const model = /models\/([^/:]+):/.exec(path)?.[1] ?? "";
  return { reply, model, finish: finishReasons.get(reply.finishReason) ?? "STOP" };
}

function responseOf(parts: readonly JsonObject[], { reply, model, finish }: Ending): JsonObject {
  const { inputTokens, outputTokens } = reply;
  const finishReason: JsonObject = finish === undefined ? {} : { finishReason: finish };
  return {
    candidates: [{ content: { parts, role: "model" }, ...finishReason, index: 0 }],
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: inputTokens + outputTokens,
    },
    modelVersion: model,
    responseId: `response_${reply.number}`,
  };
}

/** A part of a reply; a text comes in pieces if it is streamed. */
interface Part {
  readonly texts: readonly string[];
  /** The fields beside the text, or in place of it. */
  readonly fields: JsonObject;
}

function partsOf({ number, reasoning, text, calls }: WireReply, { path }: FakeRequest): readonly Part[] {
  const signature = { thoughtSignature: signatureOf(number) };
  const isSigned = needsSignatures(path) || reasoning !== undefined;
  return [
    ...(reasoning === undefined ? [] : [{ texts: piecesOf(reasoning), fields: { thought: true } }]),
    ...(text === "" && calls.length > 0 ? [] : [{ texts: piecesOf(text), fields: {} }]),
    ...calls.map(({ name, value }, index) => ({
      texts: [],
      fields: { functionCall: { name, args: value }, ...(isSigned && index === 0 ? signature : {}) },
    })),
  ];
}

function wholePart({ texts, fields }: Part): JsonObject {
  return "functionCall" in fields ? fields : { text: texts.join(""), ...fields };
}

function pieces({ texts, fields }: Part): readonly JsonObject[] {
  return "functionCall" in fields ? [fields] : texts.map((text) => ({ text, ...fields }));
}
