import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";
import { playedServer, type PlayedServer, sse } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: "1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  provider: "x",
  choices: [{ index: 0, delta, finish_reason }],
});
const called = (...pieces: readonly string[]): readonly object[] => [
  chunk({
    tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "delete", arguments: "" } }],
  }),
  ...pieces.map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
];
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const done = { sse: sse([chunk({ content: "Done." }), chunk({}, "stop")], true) };
const model = () => createOpenRouter({ baseURL: `${server.url}/v1`, apiKey: "played" }).chat("m");

describe("calls through @openrouter/ai-sdk-provider, which puts {} for arguments that do not parse", () => {
  it("whose stream ends in the middle do not run, and the model can be asked again", async () => {
    server.play({ sse: sse(called('{"path": "out/on')) }, done);
    const remove = fakeTool("delete", "deleted");
    const { outcome } = await agent({ name: "a", model: model(), tools: [remove] }).run("Delete out/one.");
    expect(outcome).toMatchObject({ type: "answered", content: "Done." });
    expect(remove.calls).toEqual([]);
  });

  it("whose arguments are broken do not run, and go back as invalid", async () => {
    server.play({ sse: sse([...called('{"path": "out/on'), chunk({}, "tool_calls")], true) }, done);
    const remove = fakeTool("delete", "deleted");
    const { transcript } = await agent({ name: "a", model: model(), tools: [remove] }).run("Delete out/one.");
    expect(remove.calls).toEqual([]);
    expect(transcript.messages).toContainEqual(expect.objectContaining({ role: "tool", status: "invalid" }));
  });

  it.each<[string, string, object, string | null]>([
    ["are broken, in one piece", '{"path": "out/on', {}, "tool_calls"],
    ["are broken where the stream ends, with counts in each chunk", '{"path": "out/on', { usage }, null],
    ["are whole where the stream ends, with counts in each chunk", '{"path": "out/one"}', { usage }, null],
  ])("whose arguments %s do not run", async (...[, text, counts, reason]) => {
    const call = { index: 0, id: "t1", type: "function", function: { name: "delete", arguments: text } };
    const events = [{ ...chunk({ tool_calls: [call] }), ...counts }];
    server.play({ sse: sse(reason === null ? events : [...events, chunk({}, reason)]) }, done);
    const remove = fakeTool("delete", "deleted");
    const { outcome } = await agent({ name: "a", model: model(), tools: [remove] }).run("Delete out/one.");
    expect(outcome).toMatchObject({ type: "answered", content: "Done." });
    expect(remove.calls).toEqual([]);
  });

  it("of two with one id run each with what the model wrote, or not", async () => {
    const call = (index: number, text: string): object => ({
      index,
      id: "t1",
      type: "function",
      function: { name: "delete", arguments: text },
    });
    const both = chunk({ tool_calls: [call(0, '{"path":"a"}'), call(1, '{"path":"b"')] });
    server.play({ sse: sse([both, chunk({}, "tool_calls")], true) }, done);
    const remove = fakeTool("delete", "deleted");
    await agent({ name: "a", model: model(), tools: [remove] }).run("Delete both.");
    expect(remove.calls).toEqual([{ path: "a" }]);
  });

  it.each<[string, readonly string[], unknown]>([
    ["whole", ['{"path":', ' "out/one"}'], { path: "out/one" }],
    ["none", [], {}],
  ])("run with what the model wrote: %s", async (_name, pieces, args) => {
    server.play({ sse: sse([...called(...pieces), chunk({}, "tool_calls")], true) }, done);
    const remove = fakeTool("delete", "deleted");
    await agent({ name: "a", model: model(), tools: [remove] }).run("Delete out/one.");
    expect(remove.calls).toEqual([args]);
  });
});
