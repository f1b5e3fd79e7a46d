import { describe, expect, it } from "vitest";
import { recogniser } from "../../../../src/driver/recognise/recogniser.ts";
import { tools } from "./tools.ts";

function shown(text: string): string[] {
  const stream = recogniser(tools).stream();
  return text.split(/(?<=\s)/).map((piece) => stream.push(piece));
}

describe("a stream", () => {
  it("shows prose at once, word by word", () => {
    expect(shown("It is warm in Lima.")).toEqual(["It ", "is ", "warm ", "in ", "Lima."]);
  });

  it("holds a name back until it is known whether it is called", () => {
    expect(shown("I use ping now")).toEqual(["I ", "use ", "", "ping now"]);
    expect(shown("I use ping ({})").join("")).toBe("I use ");
    expect(shown("I use math. add").join("")).toBe("I use math. "); // the last word may go on
  });

  it.each([
    "<tool_call>",
    "[get_weather(",
    '{"name"',
    "```",
    "@tool ping {}",
    "Action: ping",
    "ping()",
    "math.add(a=1",
  ])("shows nothing from the first sign of a call on: %s", (sign) => {
    expect(shown(`Let me see. ${sign} and more words`).join("")).toBe("Let me see. ");
  });

  it("holds nothing back for ever that is long", () => {
    const stream = recogniser(tools).stream();
    expect(stream.push("g".repeat(10_000))).toHaveLength(10_000);
  });

  it("reads the whole at its end", () => {
    const stream = recogniser(tools).stream();
    for (const letter of "Well: ping()") stream.push(letter);
    expect(stream.end().calls).toEqual([{ name: "ping", arguments: {} }]);
    expect(stream.end({ cut: true }).calls).toEqual([]);
  });
});
