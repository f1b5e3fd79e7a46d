import type { Delta, FinishReason, Model, ModelFeatures, ModelRequest, StreamOptions } from "./model.ts";
import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import type { FilePart } from "../message/message.ts";
import type { ReportedUsage } from "../message/usage.ts";
import type { Json, JsonObject } from "../util/json.ts";
import { checkArguments, checkShape, closed } from "../error/check-shape.ts";
import { callable, kindOf, optional, string } from "../util/shape.ts";
import { modelFeatures } from "./setting-shapes.ts";

/** A reply written in code: text, calls, or both. Ids may be left out. */
export interface PlainReply {
  readonly text?: string;
  readonly reasoning?: string;
  /** `arguments` is a value, or the raw text that a model would have written. */
  readonly calls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly arguments?: Json | object;
  }[];
  /** Files that the model drew or spoke. */
  readonly files?: readonly FilePart[];
  readonly usage?: ReportedUsage;
  readonly finishReason?: FinishReason;
}

/** A reply as a plain function may return it. */
export type FunctionReply = string | PlainReply | AsyncIterable<Delta>;

/** The simplest model: a function from the request to a reply. */
export type ModelFunction = (
  request: ModelRequest,
  options: StreamOptions,
) => FunctionReply | Promise<FunctionReply>;

const aboutShape = closed({ id: optional(string), features: optional(modelFeatures) });

/**
 * Makes a model from a function.
 *
 * @throws WritError `reply-invalid` from `stream` if the function returns anything else
 * @example
 * ```ts
 * import { modelFromFunction } from "writ/models";
 *
 * export const parrot = modelFromFunction((request) => `You sent ${request.messages.length} messages.`, { id: "parrot" });
 * ```
 */
export function modelFromFunction(
  answer: ModelFunction,
  about: { readonly id?: string; readonly features?: ModelFeatures } = {},
): Model {
  checkArguments("modelFromFunction()", { answer }, { answer: callable });
  checkShape("modelFromFunction()", about, aboutShape);
  const id = about.id ?? "function";
  return {
    id,
    features: about.features ?? { tools: true },
    price: () => 0,
    stream(request, options) {
      const reply = answer(request, options);
      return isPromise(reply) ? lateDeltas(reply, id) : replyDeltas(reply, id);
    },
  };
}

async function* lateDeltas(reply: PromiseLike<FunctionReply>, id: string): AsyncGenerator<Delta> {
  yield* replyDeltas(await reply, id);
}

function replyDeltas(reply: FunctionReply, id: string): AsyncIterable<Delta> {
  if (isAsyncIterable(reply)) return reply;
  return new WholeReply(deltasOf(typeof reply === "string" ? { text: reply } : reply, id));
}

function isPromise(reply: ReturnType<ModelFunction>): reply is Promise<FunctionReply> {
  return typeof reply === "object" && reply !== null && "then" in reply;
}

/** The deltas of a whole reply. @throws WritError `reply-invalid` unless it is text or such an object */
export function deltasOf(reply: PlainReply, modelId: string): Delta[] {
  const fault = faultOf(reply);
  if (fault !== undefined) {
    const wanted = "a model function gives a text, { text?, calls?: [{ name, arguments? }] } or deltas";
    throw new WritError("reply-invalid", { model: modelId, reason: `${wanted}, and this one ${fault}` });
  }
  const { calls = [], files = [] } = reply;
  const deltas: Delta[] = [];
  // Providers write null in a reply with calls only.
  if (reply.reasoning) deltas.push({ type: "reasoning-delta", text: reply.reasoning });
  if (reply.text) deltas.push({ type: "text-delta", text: reply.text });
  for (const call of calls) {
    const id = call.id ?? "";
    deltas.push({ type: "call-start", id, name: call.name });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what reads a call makes JSON of its arguments
    deltas.push({ type: "call-end", id, arguments: (call.arguments ?? emptyArguments) as Json });
  }
  for (const part of files) deltas.push({ type: "file", part });
  deltas.push({
    type: "end",
    finishReason: reply.finishReason ?? (calls.length > 0 ? "tool-calls" : "stop"),
    usage: reply.usage,
  });
  return deltas;
}

/** Says why a value is not a reply. A value without content is an empty reply, as models give them. It uses loops because every turn comes through here. */
function faultOf(reply: unknown): string | undefined {
  if (typeof reply !== "object" || reply === null || Array.isArray(reply)) return `gave ${kindOf(reply)}`;
  const { text, reasoning, calls }: { readonly [Field in keyof PlainReply]?: unknown } = reply;
  if (typeof (text ?? "") !== "string") return `gave a text that is ${kindOf(text)}`;
  if (typeof (reasoning ?? "") !== "string") return `gave reasoning that is ${kindOf(reasoning)}`;
  if (calls === undefined) return text === undefined ? unreadIn(reply) : undefined;
  if (!Array.isArray(calls)) return `gave calls that are ${kindOf(calls)}`;
  for (const call of calls as readonly ({ readonly name?: unknown } | null | undefined)[])
    if (typeof call?.name !== "string") return "gave a call without a name";
  return undefined;
}

/** The fault of a reply with fields of which none is read. */
function unreadIn(reply: object): string | undefined {
  const names = Object.keys(reply);
  const isRead = names.length === 0 || names.some((name) => fields.has(name));
  return isRead ? undefined : `gave { ${names.join(", ")} }`;
}

const fields: ReadonlySet<string> = new Set<keyof PlainReply>([
  "text",
  "reasoning",
  "calls",
  "files",
  "usage",
  "finishReason",
]);

const emptyArguments: JsonObject = {};

function isAsyncIterable(reply: FunctionReply): reply is AsyncIterable<Delta> {
  return typeof reply === "object" && reply !== null && Symbol.asyncIterator in reply;
}

/** The deltas of a whole reply: they can be awaited one by one, as for any model, or taken at once. */
export class WholeReply implements AsyncIterable<Delta> {
  readonly deltas: readonly Delta[];

  constructor(deltas: readonly Delta[]) {
    this.deltas = deltas;
  }

  [Symbol.asyncIterator](): AsyncIterator<Delta, undefined> {
    const deltas = this.deltas.values();
    return { next: () => Promise.resolve(deltas.next()) };
  }
}

/**
 * The catalogue error for an error that the code of a model threw, which may be a function of the author. It is not retryable: a fault in code would fail the
 * same way.
 */
export function asWritError(error: unknown, model: string): WritError {
  if (isWritError(error)) return error;
  const reason = `its code threw: ${messageOf(error)}`;
  return new WritError(
    "provider-failed",
    { provider: model, model, reason },
    { cause: error, retryable: false },
  );
}
