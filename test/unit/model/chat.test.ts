import { describe, expect, it } from "vitest";
import { userMessage } from "../../../src/message/message.ts";
import { chatStreamWith, chatWith } from "../../../src/model/chat.ts";
import type { Delta, ModelSettings } from "../../../src/model/model.ts";
import { scripted } from "../../../src/model/scripted.ts";
import { wireNames } from "../../../src/model/tool-names.ts";
import { fakeTool } from "../../../src/tool/fake-tool.ts";

const callIt = { calls: [{ id: "call_1", name: "add", arguments: { a: 1 } }] };
const add = fakeTool("add", 3);

describe("chat", () => {
  it("takes a text, one user message, or a whole history, with the tools as part of the request [H3.2]", async () => {
    const model = scripted(["one", "two", "three"]);
    await chatWith(model, { messages: "Hello", tools: [add] });
    await chatWith(model, { messages: userMessage("Hello") });
    await chatWith(model, { messages: [userMessage("Hello")] });
    expect(model.requests.map(({ messages }) => messages)).toEqual(
      Array.from({ length: 3 }, () => [userMessage("Hello")]),
    );
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0, 0]);
  });

  it("gives the message with model, usage, finish reason, and the id that the provider filed it under [H6.1]", async () => {
    const end: Delta = {
      type: "end",
      finishReason: "stop",
      usage: { inputTokens: 7, outputTokens: 2 },
      response: { id: "response_456", model: "gpt-4-0613" },
    };
    const model = scripted([[{ type: "text-delta", text: "Hi." }, end], "no report"], { id: "test/gpt-4" });
    expect(await chatWith(model, { messages: "Hello" })).toEqual({
      message: { role: "assistant", parts: [{ type: "text", text: "Hi." }] },
      text: "Hi.",
      calls: [],
      model: "test/gpt-4",
      usage: { inputTokens: 7, outputTokens: 2 },
      finishReason: "stop",
      response: { id: "response_456", model: "gpt-4-0613" },
    });
    const second = await chatWith(model, { messages: "Hello" });
    expect(second).not.toHaveProperty("response");
    expect(second.usage.estimated).toBe(true);
  });

  it("passes every setting on as it is given [H12]", async () => {
    const settings: Required<ModelSettings> = {
      temperature: 0.1,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 100,
      stopSequences: ["END"],
      seed: 7,
      frequencyPenalty: 0.5,
      presencePenalty: -0.5,
      providerOptions: { vendor: { tier: "flex" } },
    };
    const format = { type: "schema" as const, schema: { type: "object" } };
    const model = scripted(["ok"]);
    await chatWith(model, { messages: "x", settings, format, tools: [add], toolChoice: "required" });
    expect(model.requests[0]).toMatchObject({ settings, format, toolChoice: "required" });
  });

  it("refuses names that cannot be called, names that stand twice, and choices that nothing can meet [H9.1]", async () => {
    const model = scripted([], { whenDone: "throw" });
    const described = (name: string) => ({ name, description: "", inputSchema: { type: "object" } });
    for (const name of ["", "a b", "x".repeat(65), "né", "1st"])
      await expect(chatWith(model, { messages: "x", tools: [described(name)] })).rejects.toMatchObject({
        code: "name-invalid",
      });
    await expect(chatWith(model, { messages: "x", tools: [add, [described("add")]] })).rejects.toMatchObject({
      code: "name-taken",
      message: expect.stringContaining('"add"'),
    });
    await expect(
      chatWith(model, { messages: "x", tools: [add], toolChoice: { tool: "subtract" } }),
    ).rejects.toMatchObject({ code: "definition-invalid", message: expect.stringContaining('"subtract"') });
    await expect(chatWith(model, { messages: 7 as never })).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringContaining(
        "`messages` must be a text, a message or a list of them, got 7",
      ) as string,
    });
    await expect(chatWith(model, { messages: "x", toolChoice: "required" })).rejects.toMatchObject({
      code: "definition-invalid",
    });
    expect(model.requests).toHaveLength(0);
  });

  it("case 53: gives a call without a usable id an id of its own, that is not in the history [H9.3]", async () => {
    const calls = ["", "call_1", "call_1", "x y", "a".repeat(65)].map((id) => ({ id, name: "add" }));
    const model = scripted([callIt, { calls }, "done"]);
    const first = await chatWith(model, { messages: "x", tools: [add] });
    const messages = [
      userMessage("x"),
      first.message,
      { role: "tool" as const, callId: "call_1", name: "add", status: "ok" as const, text: "3" },
    ];
    const second = await chatWith(model, { messages, tools: [add] });
    const ids = second.calls.map(({ id }) => id);
    expect(new Set([...ids, "call_1"]).size).toBe(6);
    expect(ids.every((id) => /^[a-zA-Z0-9_-]{1,64}$/.test(id))).toBe(true);
  });

  it("refuses a history that no provider takes, before it asks", async () => {
    const model = scripted([callIt], { whenDone: "throw" });
    const reply = await chatWith(model, { messages: "x", tools: [add] });
    const result = { role: "tool" as const, callId: "call_1", name: "add", status: "ok" as const, text: "3" };
    await expect(chatWith(model, { messages: [userMessage("x"), reply.message] })).rejects.toMatchObject({
      code: "transcript-invalid",
      data: { index: 1, reason: 'has calls without a result: "call_1" of add' },
    });
    await expect(
      chatWith(model, { messages: [userMessage("x"), reply.message, userMessage("and?")] }),
    ).rejects.toMatchObject({ code: "transcript-invalid", data: { index: 2 } });
    await expect(chatWith(model, { messages: [userMessage("x"), result] })).rejects.toMatchObject({
      code: "transcript-invalid",
      data: { index: 1 },
    });
    expect(model.requests).toHaveLength(1);
  });

  it("keeps the names of tools that providers do not take, and tells them back", async () => {
    const tools = [fakeTool("notes.read", ""), fakeTool("notes_read", "")];
    const wire = wireNames({ tools: new Map(tools.map((tool) => [tool.name, tool])) }).toWire("notes.read");
    const model = scripted([{ calls: [{ id: "c1", name: wire }] }, "done"]);
    const request = { messages: "x", tools, toolChoice: { tool: "notes.read" } };
    const reply = await chatWith(model, request);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual([wire, "notes_read"]);
    expect(model.requests[0]?.toolChoice).toEqual({ tool: wire });
    expect(reply.calls).toMatchObject([{ name: "notes.read" }]);
    const result = {
      role: "tool" as const,
      callId: "c1",
      name: "notes.read",
      status: "ok" as const,
      text: "",
    };
    await chatWith(model, { messages: [userMessage("x"), reply.message, result], tools });
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("notes.read");
    expect(reply.message.parts).toMatchObject([{ name: "notes.read" }]);
  });

  it("streams the reply, and returns it whole", async () => {
    const model = scripted([
      [
        { type: "text-delta", text: "Let me " },
        { type: "text-delta", text: "add." },
        { type: "call-start", id: "", name: "add" },
        { type: "call-delta", id: "", text: '{"a":1}' },
        { type: "call-end", id: "" },
        { type: "end", finishReason: "tool-calls" },
      ],
    ]);
    const stream = chatStreamWith(model, { messages: "x", tools: [add] });
    const deltas: Delta[] = [];
    let next = await stream.next();
    for (; next.done !== true; next = await stream.next()) deltas.push(next.value);
    const reply = next.value;
    expect(deltas.flatMap((delta) => (delta.type === "text-delta" ? [delta.text] : []))).toEqual([
      "Let me ",
      "add.",
    ]);
    const [call] = reply.calls;
    expect(call).toMatchObject({ name: "add", arguments: { a: 1 } });
    expect(deltas.flatMap((delta) => (delta.type.startsWith("call-") ? [delta] : []))).toMatchObject([
      { id: call?.id, name: "add" },
      { id: call?.id },
      { id: call?.id },
    ]);
    expect(reply.text).toBe("Let me add.");
  });

  it("fails with errors of the catalogue, and with the signal's own reason when aborted [H11]", async () => {
    const boom = new TypeError("boom");
    await expect(chatWith(scripted([boom]), { messages: "x" })).rejects.toMatchObject({
      code: "provider-failed",
      cause: boom,
    });
    const failed: Delta = { type: "end", finishReason: "error" };
    await expect(chatWith(scripted([[failed]]), { messages: "x" })).rejects.toMatchObject({
      code: "provider-failed",
      retryable: true,
    });
    await expect(
      chatWith(scripted([[{ type: "text-delta", text: "brok" }]]), { messages: "x" }),
    ).rejects.toMatchObject({ code: "reply-invalid" });
    const reason = new Error("enough");
    const hanging = {
      ...scripted([]),
      async *stream(_request: unknown, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<Delta> {
        yield { type: "text-delta", text: "…" };
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(reason)));
      },
    };
    const stop = new AbortController();
    const asked = chatWith(hanging, { messages: "x", signal: stop.signal });
    setTimeout(() => stop.abort(reason), 5);
    await expect(asked).rejects.toBe(reason);
  });
});
