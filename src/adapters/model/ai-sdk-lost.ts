import type { Message, ReplyMessage, ReplyPart } from "../../message/message.ts";
import type { ModelRequest } from "../../model/model.ts";
import { remembered } from "../../util/remembered.ts";
import { packageFault } from "./ai-sdk-errors.ts";

/**
 * Replies whose items their provider no longer knows, or whose signatures it refuses: OpenAI keeps items for 30 days, and never for some accounts, and
 * another account or region knows none of them.
 */
export interface LostReplies {
  /** The request without what the provider would refuse. */
  without(this: void, request: ModelRequest): ModelRequest;
  /** Notes the replies of a request that failed so; false if it failed for another reason, or has no other reply. */
  learn(this: void, error: unknown, request: ModelRequest): boolean;
}

/** Begins with no reply lost. */
export function lostReplies(): LostReplies {
  const lost = new WeakSet<Message>();
  return {
    without(request) {
      const { messages } = request;
      if (!messages.some((message) => lost.has(message))) return request;
      return {
        ...request,
        messages: messages.map((message) =>
          message.role === "assistant" && lost.has(message) ? inWords(message) : message,
        ),
      };
    },
    learn(error, { messages }) {
      if (!saysLost.test(packageFault(error).message)) return false;
      const fresh = messages.filter((message) => message.role === "assistant" && !lost.has(message));
      for (const message of fresh) lost.add(message);
      return fresh.length > 0;
    },
  };
}

const saysLost =
  /Item with id '[^']*' not found|encrypted content\b.*\bcould not be (?:verified|decrypted)|Invalid `?signature`? in `?thinking`?|thought signature\b.*\bnot valid|corrupted thought signature/i;

/** The words and the calls of a reply, without its reasoning and everything else that only its provider can read. Depends on: the message. */
const inWords = remembered((message: ReplyMessage): ReplyMessage => ({
  ...message,
  parts: message.parts.flatMap(plainPart),
}));

function plainPart(part: ReplyPart): readonly ReplyPart[] {
  if (part.type === "reasoning" || part.type === "provider") return [];
  if (part.type === "tool-call" && part.providerExecuted === true) return [];
  const { providerMetadata: { writ } = {}, ...plain } = part;
  return [writ === undefined ? plain : { ...plain, providerMetadata: { writ } }];
}
