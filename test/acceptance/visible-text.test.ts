import { describe, expect, it } from "vitest";
import { agent, type Delta, type DriverName } from "../../src/index.ts";
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
  ])("is shown while it is written, and a call is not: %s", async (driver, call) => {
    expect(await shownBy(driver, [call, "All of it is kept."])).toEqual(["", "All of it is kept."]);
  });

  it.each<DriverName>(["json", "react"])("is not shown where it stands in a frame: %s", async (driver) => {
    const answer =
      driver === "json" ? '{"final": {"content": "ok"}}' : '{"type": "final_answer", "answer": "ok"}';
    expect(await shownBy(driver, [answer])).toEqual([""]);
  });
});
