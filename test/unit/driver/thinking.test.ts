import { cpuMs } from "../../cpu-time.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { thinkingFilter, withoutThinking } from "../../../src/driver/thinking.ts";
import { textOf } from "../../../src/message/message.ts";
import { callOf, replyOf } from "./turn.ts";

function tell(...pieces: readonly string[]): { readonly text: string; readonly thought: string } {
  const filter = thinkingFilter();
  let [text, thought] = ["", ""];
  for (const told of [...pieces.map((piece) => filter.push(piece)), filter.end()]) {
    if (told.wasThought === true) [text, thought] = ["", text + thought];
    text += told.text;
    thought += told.thought;
  }
  return { text, thought };
}

describe("thinking in the text of a reply", () => {
  it.each([
    ["<think>a</think>\n\n8", "8", "a"],
    ["<thinking>a</thinking>8", "8", "a"],
    ["a</think>\n8", "8", "a"],
    ["<think>a</think> b <think>c</think> d", "b d", "ac"],
    ["8. <think>a", "8. ", "a"],
    ["The tag `<think>` opens, and `</think>` ends.", "The tag `<think>` opens, and `</think>` ends.", ""],
    ['{"text": "a \\"b\\" <think> c"}', '{"text": "a \\"b\\" <think> c"}', ""],
    ['5" long\n<think>a</think>8', '5" long\n8', "a"],
    ["<think>it's `odd\n</think>8", "8", "it's `odd\n"],
    ["a <thin", "a <thin", ""],
    ["[THINK]a[/THINK]8", "8", "a"],
    ["a[/THINK]\n8", "8", "a"],
    ["The mark `[THINK]` opens; see [1] and [/THI", "The mark `[THINK]` opens; see [1] and [/THI", ""],
  ])("is told apart in %j", (written, text, thought) => {
    expect(tell(written)).toEqual({ text, thought });
  });

  it("is told apart the same way in whatever pieces a reply comes, and nothing of the reply is lost", () => {
    const signs = fc.constantFrom(
      "<think>",
      "</think>",
      "<thinking>",
      "[THINK]",
      "[/THINK]",
      '"',
      "`",
      "\\",
      "\n",
      " ",
      "<",
      "think>",
      "a",
      "b",
    );
    fc.assert(
      fc.property(fc.array(signs), fc.array(fc.nat(8)), (parts, cuts) => {
        const whole = parts.join("");
        const pieces: string[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(whole.slice(at, at + cut));
          at += cut;
        }
        const told = tell(...pieces, whole.slice(at));
        expect(told.text).toBe(tell(whole).text);
        expect(told.thought).toHaveLength(tell(whole).thought.length); // what turns out to be thought comes last
        const said = withoutThinking(replyOf(whole));
        expect(textOf(said.message)).toBe(tell(whole).text);
      }),
      {
        examples: [
          [
            ["<", '"', "<think>", "\\", "\\", '"', "<think>"],
            [7, 2, 2],
          ],
        ],
      }, // cut between two backslashes and a quote
    );
  });

  it("becomes reasoning where the text stood, and a reply without any stays the same", () => {
    const call = callOf("note", {});
    expect(withoutThinking(replyOf("<think>a</think>", call, "8")).message.parts).toEqual([
      { type: "reasoning", text: "a" },
      { type: "text", text: "8" },
      call,
    ]);
    const plain = replyOf("I think so.", call);
    expect(withoutThinking(plain)).toBe(plain);
  });

  it("is read in time that grows with the length of the reply", () => {
    const work = (): void => {
      for (const unit of ["<think>", "</think>", "<", '"', "\\", "`<think>\n"]) tell(unit.repeat(40_000));
      tell(...Array.from({ length: 40_000 }, () => "<think"));
    };
    expect(cpuMs(2000, work)).toBeLessThan(2000);
  });
});
