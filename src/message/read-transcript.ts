import { messageOf } from "../error/writ-error.ts";
import { misfitText } from "../util/shape.ts";
import type { Message, ToolResult } from "./message.ts";
import { messageShape, resultShape } from "./message-shape.ts";
import {
  addReply,
  addUser,
  emptyTranscript,
  namedCalls,
  type OpenTranscript,
  settle,
  type Transcript,
  transcriptInvalid,
  type TranscriptJson,
  withoutResult,
} from "./transcript.ts";

/**
 * Reads a transcript back from JSON. Everything is checked again.
 *
 * @throws WritError `transcript-invalid` with the index of the first message that cannot stand where it stands.
 * @example
 * ```ts
 * import { readTranscript, type Transcript, type TranscriptJson } from "writ/doors";
 *
 * export const copy = (transcript: Transcript): Transcript =>
 *   readTranscript(JSON.parse(JSON.stringify(transcript)) as TranscriptJson);
 * ```
 */
export function readTranscript(json: TranscriptJson): Transcript {
  let transcript: Transcript = emptyTranscript();
  const { messages } = (json as Partial<TranscriptJson> | undefined) ?? {};
  if (!Array.isArray(messages)) throw transcriptInvalid(0, "is not there: `messages` is no list");
  for (const [index, message] of (messages as readonly Message[]).entries()) {
    const fault = misfitText(messageShape, message);
    if (fault !== undefined) throw transcriptInvalid(index, `is no message: ${fault}`);
    try {
      transcript = addAny(transcript, message);
    } catch (cause) {
      throw transcriptInvalid(index, `cannot stand here: ${messageOf(cause)}`, cause);
    }
  }
  for (const [callId, result] of Object.entries(json.settled ?? {}))
    transcript = settleRead(transcript, callId, result);
  return transcript;
}

function settleRead(transcript: Transcript, callId: string, result: ToolResult): Transcript {
  const index = transcript.length;
  const fault = transcript.state === "open" ? misfitText(resultShape, result) : "no call is open";
  if (fault !== undefined || transcript.state !== "open")
    throw transcriptInvalid(index, `has a result of "${callId}" that cannot be read: ${fault}`);
  try {
    return settle(transcript, callId, result);
  } catch (cause) {
    throw transcriptInvalid(index, messageOf(cause), cause);
  }
}

/** Results are matched by the id of their call, in whatever order they stand. */
function checkOpen(transcript: OpenTranscript, callId: string): void {
  const { open } = transcript;
  if (open.some(({ id }) => id === callId)) return;
  const isSettled = Object.hasOwn(transcript.toJSON().settled ?? {}, callId);
  const fault = isSettled ? "which has its result already" : "which no open call has as its id";
  throw new TypeError(`it is the result of "${callId}", ${fault}; open: ${namedCalls(open)}`);
}

function addAny(transcript: Transcript, message: Message): Transcript {
  if (message.role === "tool") {
    if (transcript.state !== "open")
      throw new TypeError(`it is the result of "${message.callId}", and no call is open`);
    const { role: _role, callId, name: _name, ...result } = message;
    checkOpen(transcript, callId);
    return settle(transcript, callId, result);
  }
  if (transcript.state === "open") throw new TypeError(withoutResult(transcript.open));
  if (message.role === "assistant") return addReply(transcript, message);
  if (message.role === "user") return addUser(transcript, message);
  if (transcript.length > 0) throw new TypeError("a system message can only be the first");
  return emptyTranscript(message);
}
