import { describe, expect, it } from "vitest";
import { wrongField } from "../../../src/hook/run-hooks.ts";
import { WritError } from "../../../src/index.ts";
import { type Message, userMessage } from "../../../src/message/message.ts";
import { readTranscript } from "../../../src/message/read-transcript.ts";
import type { Json } from "../../../src/util/json.ts";

describe("a message from outside", () => {
  const wrong: readonly (readonly [message: Json, says: string])[] = [
    [{ role: "robot" }, '`role` must be one of system, user, assistant, tool, got "robot"'],
    [{ role: "user", parts: "hi" }, "`parts` must be a list of parts, got a string"],
    [
      { role: "user", parts: [{ type: "reasoning", text: "hm" }] },
      '`parts[0].type` must be "text" or "file", got "reasoning"',
    ],
    [{ role: "user", parts: [{ type: "text", text: 5 }] }, "`parts[0].text` must be a string, got a number"],
  ];
  it.each(wrong)(
    "%j is refused with the same words from a hook and from a stored transcript",
    (message, says) => {
      const inList = says.replace("`", "`messages[0].");
      expect(wrongField("beforeModel", "messages", [message])).toBe(
        `\`messages\` must be a list of messages: ${inList}`,
      );
      const read = (): unknown => readTranscript({ messages: [message as unknown as Message] });
      expect(read).toThrow(WritError);
      expect(read).toThrow(says);
    },
  );

  it("is accepted from both", () => {
    const messages = [userMessage("hi")];
    expect(wrongField("beforeModel", "messages", messages as unknown as Json)).toBeUndefined();
    expect(readTranscript({ messages }).messages).toEqual(messages);
  });
});
