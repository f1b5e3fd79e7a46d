import { describe, expect, it } from "vitest";
import { agent } from "../../src/index.ts";
import type { DriverName } from "../../src/drivers.ts";
import type { Delta } from "../../src/models.ts";
import { fakeTool } from "../../src/testing.ts";

/** A model that says each reply letter by letter. */
function speaking(replies: readonly string[]): () => AsyncIterable<Delta> {
  let next = 0;
  return async function* () {
    for (const text of replies[next++] ?? "") yield { type: "text-delta", text };
    yield { type: "end", finishReason: "stop" };
  };
}

async function shownBy(driver: DriverName, replies: readonly string[]): Promise<readonly string[]> {
  const asked = agent({ name: "a", model: speaking(replies), driver, tools: [fakeTool("note", "kept")] });
  const shown: string[] = [];
  for await (const event of asked.stream("Go."))
    if (event.type === "message-start") shown.push("");
    else if (event.type === "text-delta") shown.push((shown.pop() ?? "") + event.text);
  return shown;
}

describe("an answer of a driver that calls in text", () => {
  it.each<readonly [DriverName, string]>([
    ["command", "@tool note {}"],
    ["hermes", '<tool_call>{"name": "note", "arguments": {}}</tool_call>'],
    ["pythonic", "[note()]"],
    ["inline", '{"tool": "note", "arguments": {}}'],
    ["native", '<tool_call>{"name": "note", "arguments": {}}</tool_call>'],
    ["native", "\n<function=note>\n</function>"],
    ["native", '[TOOL_CALLS][{"name": "note", "arguments": {}}]'],
  ])("is shown while it is written, and a call is not: %s", async (driver, call) => {
    expect(await shownBy(driver, [call, "All of it is kept."])).toEqual(["", "All of it is kept."]);
  });

  it.each<DriverName>(["json", "react"])("is not shown where it stands in a frame: %s", async (driver) => {
    const answer =
      driver === "json" ? '{"final": {"content": "ok"}}' : '{"type": "final_answer", "answer": "ok"}';
    expect(await shownBy(driver, [answer])).toEqual([""]);
  });

  it("is shown as it is written where nothing in it is a call: native", async () => {
    for (const answer of [
      "\n<b>8</b> is the note. ",
      "[TOOL] is no mark, and <tool_call> may be spoken of.",
      "<tool_call> is the tag.",
      "<tool",
      '<tool_call>{"name": "note"',
    ])
      expect(await shownBy("native", [answer])).toEqual([answer]);
  });

  it.each<DriverName>(["command", "hermes", "pythonic", "inline"])(
    "is shown to its end, also behind what might have begun a call: %s",
    async (driver) => {
      for (const answer of [
        "See `x` and [1] for more. All the rest of it.",
        "It is <b>8</b>, the note.",
        "Make a note",
      ])
        expect(await shownBy(driver, [`\n${answer} \n`])).toEqual([answer]);
    },
  );

  it.each<DriverName>(["native", "command", "hermes", "pythonic", "inline"])(
    "is shown without what the model thinks: %s",
    async (driver) => {
      const thinking = "<think>\nI could call {x}.\n</think>\n\n";
      expect(await shownBy(driver, [`${thinking}It is 8, <think>or 9</think>see [1].`])).toEqual([
        "It is 8, see [1].",
      ]);
    },
  );

  it("is shown whole also behind thinking whose beginning its template wrote", async () => {
    const [shown = ""] = await shownBy("hermes", ["I think.</think>The answer is 8 [1]."]);
    expect(shown.endsWith("The answer is 8 [1].")).toBe(true);
  });

  it("is shown without a call behind thinking whose beginning its template wrote: native", async () => {
    const call = 'I think.</think>\n\n<tool_call>{"name": "note", "arguments": {}}</tool_call>';
    expect(await shownBy("native", [call, "Kept."])).toEqual(["I think.", "Kept."]);
  });

  it("is read while it is written behind such thinking, with braces in it", async () => {
    const model = speaking(['Of {"a": 1}.</think>{"total": 8}']);
    const output = { type: "object", properties: { total: { type: "number" } } };
    const asked = agent({ name: "a", model, driver: "native", output });
    const partials: unknown[] = [];
    for await (const event of asked.stream("Go."))
      if (event.type === "output-delta") partials.push(event.partial);
    expect(partials.at(-1)).toEqual({ total: 8 });
  });

  it("tells the thinking of a native model as reasoning", async () => {
    const asked = agent({ name: "a", model: speaking(["<think>hm</think>8"]), driver: "native" });
    let reasoning = "";
    for await (const event of asked.stream("Go."))
      if (event.type === "reasoning-delta") reasoning += event.text;
    expect(reasoning).toBe("hm");
  });
});
