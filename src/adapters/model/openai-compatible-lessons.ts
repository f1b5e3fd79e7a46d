import { RefusedRequest } from "./http-reply.ts";
import { refusesFormat } from "./openai-compatible-errors.ts";
import { saysItCannot } from "./server-errors.ts";

/** The fields of a request that servers treat differently. */
export interface ChatBody {
  readonly max_tokens?: unknown;
  readonly messages: readonly object[];
  readonly response_format?: object;
  readonly stream_options?: object;
  readonly tool_choice?: string | object;
  readonly tools?: readonly object[];
}

/** Fields of messages that a server sent in a reply, and may still refuse in the next request. */
const givenBack = [
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "thinking_blocks",
  "thinking",
  "extra_content",
  "provider_specific_fields",
] as const;

/** The texts of servers about other fields that they refuse or miss; `of` is the field of the request. */
const wordings: readonly {
  readonly lesson: string;
  readonly words: RegExp;
  readonly of?: keyof ChatBody;
}[] = [
  { lesson: "stream_options", words: /\bstream_options\b/, of: "stream_options" },
  {
    lesson: "tool_choice",
    words: /\btool_choice\b.*\b(?:incompatible|not support)|\bnot support\b.*\btool_choice\b/,
    of: "tool_choice",
  },
  {
    lesson: "max_completion_tokens",
    words: /^(?!.*too large).*\bmax_tokens\b.*\bmax_completion_tokens\b/,
    of: "max_tokens",
  },
  { lesson: "reasoning_content required", words: /reasoning_content\b.*\b(?:missing|must be passed back)/i },
  { lesson: "reply after results", words: /unexpected role '?user'? after role '?tool/i },
  {
    lesson: "tool schemas",
    words: /\bJSON schema\b|parse grammar|Invalid schema for function|Pattern must start/i,
    of: "tools",
  },
  { lesson: "id", words: /tool.?calls?\b.*\bid\b.*\b(?:length|too long)/i },
];

/**
 * The fields that a server refuses by name, or that it misses in messages which another server wrote. None if it fails for another reason,
 * or was not sent the refused field. A server that takes no pictures is asked again without those from tools, but never without a user's.
 */
export function lessonsOf(thrown: unknown, body: ChatBody): readonly string[] {
  if (body.response_format !== undefined && refusesFormat(thrown)) return ["response_format"];
  if (!(thrown instanceof RefusedRequest)) return [];
  const said = thrown.message;
  const sent = JSON.stringify(body.messages); // a quote within a text has a backslash before it
  if (/\bimage|multimodal/i.test(said) && sent.includes('"image_url":')) return ["result files"];
  if (!saysItCannot(thrown.fault)) return [];
  const known = wordings.find(
    ({ words, of }) => words.test(said) && (of === undefined || body[of] !== undefined),
  );
  if (known !== undefined) return [known.lesson];
  return givenBack.filter((field) => new RegExp(`\\b${field}\\b`).test(said) && sent.includes(`"${field}":`));
}
