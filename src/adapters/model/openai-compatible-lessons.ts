import { RefusedRequest } from "./http-reply.ts";
import { refusesFormat } from "./openai-compatible-errors.ts";

/** The fields of a request that servers differ about. */
export interface ChatBody {
  readonly messages: readonly object[];
  readonly response_format?: object;
  readonly stream_options?: object;
  readonly tool_choice?: string;
}

/** Fields of messages that a server gave in a reply, and may refuse in the next request all the same. */
const givenBack = [
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "thinking",
  "extra_content",
  "provider_specific_fields",
] as const;

/**
 * The fields that a server refuses by their names, or that it misses in messages which another one wrote. None when it fails for another reason,
 * or was not sent what it refuses.
 */
export function lessonsOf(thrown: unknown, body: ChatBody): readonly string[] {
  if (body.response_format !== undefined && refusesFormat(thrown)) return ["response_format"];
  if (!(thrown instanceof RefusedRequest) || (thrown.fault.status !== 400 && thrown.fault.status !== 422))
    return [];
  const said = thrown.message;
  if (body.stream_options !== undefined && /\bstream_options\b/.test(said)) return ["stream_options"];
  if (body.tool_choice !== undefined && /\btool_choice\b.*\bincompatible\b/.test(said))
    return ["tool_choice"];
  if (/reasoning_content\b.*\b(?:missing|must be passed back)/i.test(said))
    return ["reasoning_content required"];
  if (/tool.?calls?\b.*\bid\b.*\b(?:length|too long)/i.test(said)) return ["id"];
  const sent = JSON.stringify(body.messages); // a quote within a text has a backslash before it
  return givenBack.filter((field) => new RegExp(`\\b${field}\\b`).test(said) && sent.includes(`"${field}":`));
}
