import type { FinishReason } from "../../model/model.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import { textOf } from "./fields.ts";
import type { FakeReply, FakeRequest } from "./fake-provider.ts";

/** An error with which a provider refuses or fails a request. Each provider has its own form of the body. */
export interface ProviderError {
  readonly status: number;
  /** The message. Default: the provider's message for this status. */
  readonly message?: string;
  /** The wrong field, in the provider's own spelling. */
  readonly param?: string;
  readonly code?: string;
  readonly retryAfter?: number;
}

/** A call of a reply. */
export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly value: Json;
  /** The arguments as the text that a model writes. */
  readonly text: string;
}

/** A reply with all its fields. */
export interface WireReply {
  /** The number of the reply, from 1: ids are made from it. */
  readonly number: number;
  readonly text: string;
  readonly reasoning?: string;
  readonly calls: readonly WireCall[];
  readonly finishReason: FinishReason;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The body of an answer: one chunk if it is sent whole. */
export interface WireBody {
  readonly contentType: string;
  readonly chunks: readonly string[];
}

/** One wire format. */
export interface Wire {
  /** The paths of the format, without a query. */
  readonly path: RegExp;
  /** The error with which the provider refuses the request. Undefined if it accepts the request. */
  readonly refuse: (request: FakeRequest) => ProviderError | undefined;
  readonly reply: (reply: WireReply, request: FakeRequest) => WireBody;
}

/** A provider: its wire formats, and its messages for errors. */
export interface Provider {
  readonly wires: readonly Wire[];
  /** Makes the id of a call of a reply. */
  readonly callId: (call: NewCall) => string;
  readonly error: (error: ProviderError) => Json;
}

/** A call that has no id yet: its name, its index in the reply, and the number of the reply. */
export interface NewCall {
  readonly name: string;
  readonly index: number;
  readonly number: number;
}

/** Ids from a prefix and numbers. */
export function numberedIds(prefix: string): Provider["callId"] {
  return ({ number, index }) => `${prefix}${number}_${index + 1}`;
}

/** A request that a provider refuses with 400. */
export function invalid(message: string, param?: string, code?: string): ProviderError {
  return {
    status: 400,
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  };
}

const signatureMark = "fake signature ";

/** The signature of a reply, from which its number can be recognised. */
export function signatureOf(number: number): string {
  return Buffer.from(signatureMark + number).toString("base64");
}

/** True for a signature that a fake provider gave. */
export function isSigned(signature: string): boolean {
  return Buffer.from(signature, "base64").toString().startsWith(signatureMark);
}

/** A reply of a script, with its missing fields filled in. */
export function wireReply(provider: Provider, reply: FakeReply, { request, number }: Asked): WireReply {
  const { text = "", reasoning, calls = [], usage } = reply;
  const made = calls.map((call, index) => {
    const value = call.arguments ?? {};
    const written = typeof value === "string" ? value : JSON.stringify(value);
    return {
      id: call.id ?? provider.callId({ name: call.name, index, number }),
      name: call.name,
      value: parsed(written),
      text: written,
    };
  });
  const written = [text, reasoning ?? "", ...made.map((call) => call.name + call.text)].join("");
  return {
    number,
    text,
    ...(reasoning === undefined ? {} : { reasoning }),
    calls: made,
    finishReason: reply.finishReason ?? (made.length > 0 ? "tool-calls" : "stop"),
    inputTokens: usage?.inputTokens ?? tokens(JSON.stringify(request.body)),
    outputTokens: usage?.outputTokens ?? tokens(written),
  };
}

/** The request that is answered, and the number of its answer. */
export interface Asked {
  readonly request: FakeRequest;
  readonly number: number;
}

/** The number of tokens of a text: one for four characters. */
function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function parsed(text: string): Json {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it parses to nothing else
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The pieces of a text in a stream: its words. */
export function piecesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(/(?<=\s)(?=\S)/);
}

/** The text of arguments in two pieces. */
export function halvesOf(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

/** A body that is sent whole. */
export function wholeBody(value: Json): WireBody {
  return { contentType: "application/json", chunks: [JSON.stringify(value)] };
}

/** A stream of server-sent events, one per chunk; `named` repeats the type of each as the name of its event. */
export function eventStream(
  events: readonly JsonObject[],
  { named = false }: { readonly named?: boolean } = {},
): WireBody {
  const chunks = events.map((event) => {
    const name = named ? `event: ${textOf(event["type"])}\n` : "";
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return { contentType: "text/event-stream", chunks };
}
