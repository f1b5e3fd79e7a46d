import { remembered } from "../util/remembered.ts";
import { wordsOfFile } from "./file-part.ts";
import { type FilePart, isTextFile, type Message, type ReplyPart, type UserMessage } from "./message.ts";

/**
 * The messages as providers take them: text files of users are words, since few take them as files. In the transcript they stay files: what stands in
 * one is not what the user said. A file with data for its provider goes as it is. The same list where there is none.
 */
export function withTextsRead(messages: readonly Message[]): readonly Message[] {
  return messages.some(hasText) ? messages.map((each) => (hasText(each) ? read(each) : each)) : messages;
}

function hasText(message: Message): message is UserMessage {
  return message.role === "user" && message.parts.some(isRead);
}

function isRead(part: ReplyPart): part is FilePart {
  return part.type === "file" && part.providerMetadata === undefined && isTextFile(part);
}

// Depends on: the message.
const read = remembered((message: UserMessage): UserMessage => {
  const parts = message.parts.map((part) =>
    isRead(part) ? { type: "text" as const, text: wordsOfFile(part) } : part,
  );
  return { ...message, parts };
});
