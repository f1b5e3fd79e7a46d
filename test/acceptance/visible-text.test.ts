import { describe, expect, it } from "vitest";
import { agent } from "../../src/index.ts";
import { type Driver, type DriverName, jsonDriver } from "../../src/drivers.ts";
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

/** The pieces in which an answer was told. */
async function piecesOf(driver: DriverName | Driver, reply: string): Promise<readonly string[]> {
  const asked = agent({ name: "a", model: speaking([reply]), driver, tools: [fakeTool("note", "kept")] });
  const pieces: string[] = [];
  for await (const event of asked.stream("Go.")) if (event.type === "text-delta") pieces.push(event.text);
  return pieces;
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

  it("is not shown before its end where it stands in a frame: react", async () => {
    expect(await shownBy("react", ['{"type": "final_answer", "answer": "ok"}'])).toEqual([""]);
  });

  it("is shown while it is written where it stands in the frame of json, behind a thought too", async () => {
    for (const [reply, pieces] of [
      ['{"final": {"content": "a \\"b\\"\\n\\ud83d\\ude00 "}}', ["a", " ", '"', "b", '"', "\n", "😀", " "]],
      ['{"thought": "\\"final\\"", "final": {"content": "ok"}}', ["o", "k"]],
    ] as const)
      expect(await piecesOf("json", reply)).toEqual(pieces);
  });

  it.each([
    ["a value that is no text", '{"final": {"content": {"sum": 8}}}', '{"sum":8}'],
    ["fields in another order", '{"final": {"sure": true, "content": "ok"}}', "ok"],
  ])("is shown at its end where json has %s", async (_what, reply, said) => {
    expect(await piecesOf("json", reply)).toEqual([said]);
  });

  it("is shown at its end by a lenient json, which may find something else in a reply with a fault", async () => {
    const faulty = 'So: {"final": {"content": "not yet"}} {"final": {"content": "ok"}}';
    const lenient = jsonDriver({ mode: "lenient" });
    for (const reply of ['{"final": {"content": "ok"}}', faulty]) {
      const answered = agent({ name: "a", model: () => reply, driver: lenient });
      expect(await piecesOf(lenient, reply)).toEqual([(await answered.run("Go.")).output]);
    }
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
