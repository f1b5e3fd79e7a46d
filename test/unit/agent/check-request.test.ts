import { describe, expect, it } from "vitest";
import { agent, isWritError } from "../../../src/index.ts";
import { chat, chatStream, decide, execute, llmStep, loop, safeLoop } from "../../../src/doors.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

const model = scripted(["Never asked."]);
const tools = [fakeTool("look", "seen")];
const call = { type: "tool-call", id: "a", name: "look", arguments: {} };

/** The doors as JavaScript calls them, with whatever it likes. */
const doors: Readonly<Record<string, (...given: readonly unknown[]) => unknown>> = {
  chat: (...given) => Reflect.apply(chat, undefined, given),
  chatStream: (...given) => Reflect.apply(chatStream, undefined, given).next(),
  execute: (...given) => Reflect.apply(execute, undefined, given),
  loop: (...given) => Reflect.apply(loop, undefined, given).next(),
  llmStep: (...given) => Reflect.apply(llmStep, undefined, given),
  safeLoop: (...given) => Reflect.apply(safeLoop, undefined, given),
  decide: (...given) => Reflect.apply(decide, undefined, given),
};

const wrong: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  chat: [
    [model, { messages: "Hello" }],
    ["ollama/x", { messages: "Hello" }],
    [() => "a", { messages: "x" }],
    [{ model, messages: "Hello", tools: 5 }],
    [{ model, messages: "Hello", tools: { look: tools[0] } }],
    [{ model, messages: "Hello", tools, toolChoice: "any" }],
    [{ model, messages: "Hello", tools, toolChoice: { name: "look" } }],
    [{ model, messages: "Hello", format: { type: "object" } }],
  ],
  chatStream: [["ollama/x", { messages: "Hello" }], [{ messages: "Hello" }], [{ model, messages: 5 }]],
  execute: [
    [[call], { tools }],
    [{ tools }],
    [{ calls: [call] }],
    [{ calls: [undefined], tools }],
    [{ calls: [], tools, endOn: ["length"] }],
  ],
  loop: [["ollama/x", {}], [{ model }], [{ model, transcript: { messages: [] } }]],
  llmStep: [["Weather?", []], [{ prompt: "Weather?" }], [{ catalog: [] }]],
  safeLoop: [["Weather?", {}], [{ question: "Weather?" }], [{ question: "Weather?", tools }]],
  decide: [["Deploy?", ["yes", "no"]], [{ question: "Deploy?" }], [{ options: ["yes", "no"] }]],
};

describe("a wrong call of a door", () => {
  const cases = Object.entries(wrong).flatMap(([door, calls]) =>
    [...calls, [undefined], [null], ["a text"], []].map((given) => [door, given] as const),
  );
  it.each(cases)("%s(%j) is told how it is written", async (door, given) => {
    const error: unknown = await Promise.resolve(doors[door]?.(...given)).catch((thrown: unknown) => thrown);
    expect(isWritError(error, "definition-invalid")).toBe(true);
    expect((error as Error).message).toMatch(
      new RegExp(`^${door}\\(\\): .* write ${door}\\(\\{ .* \\}\\)\\.`),
    );
    expect(model.requests).toHaveLength(0);
  });

  it("names what is missing", async () => {
    const told = (given: unknown) =>
      Promise.resolve(doors["chat"]?.(given)).catch(({ message }: Error) => message);
    expect(await told("Hello")).toBe(
      "chat(): it must be an object, got a string; write chat({ model, messages }).",
    );
    expect(await told({ messages: "Hello" })).toBe(
      "chat(): `model` must be what stands for a model, got nothing; write chat({ model, messages }).",
    );
    expect(await told({ model })).toBe(
      "chat(): `messages` must be a text, a message or a list of messages, got nothing; write chat({ model, messages }).",
    );
  });

  it("of an agent too", () => {
    for (const given of [undefined, null, "a text"])
      expect(() => Reflect.apply(agent, undefined, [given])).toThrow("agent(): it takes an object.");
  });

  it("tells what an older name of execute() is now", async () => {
    const given = { calls: [call], tools, stopOnToolBlock: true };
    await expect(execute(given as never)).rejects.toThrow(
      'execute(): write `endOn: ["blocked-call"]` in place of `stopOnToolBlock`.',
    );
  });
});
