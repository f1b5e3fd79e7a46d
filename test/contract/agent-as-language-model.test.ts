import type { LanguageModelV3 } from "ai-sdk-provider-v3";
import { generateText, type LanguageModel, Output, streamText } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiSdk, asLanguageModel } from "../../src/adapters/model/ai-sdk.ts";
import { type Agent, agent, type Model, tool } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";

/** One who looks before it answers. */
const looker = (more: object = {}) =>
  agent({
    name: "looker",
    model: ({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? { reasoning: "I know.", text: "It is there." }
        : { text: "I look.", calls: [{ name: "look", arguments: { at: "door" } }] },
    tools: [fakeTool("look", { seen: "a cat" })],
    ...more,
  });

const echo = (heard: unknown[] = []) =>
  agent({
    name: "echo",
    instructions: "Be brief",
    model: ({ messages }) => {
      heard.push(messages);
      return "Heard.";
    },
  });

/** Says one word, and then waits until it is stopped. */
const endless = (onWord: () => void = () => undefined): Model => ({
  id: "endless",
  features: { tools: true },
  async *stream(_request, { signal }) {
    yield { type: "text-delta", text: "One" };
    const stopped = new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error)),
    );
    onWord();
    await stopped;
  },
});

describe("an agent as a language model of the AI SDK", () => {
  it("answers generateText with text, usage, a reason and its calls", async () => {
    const model: LanguageModel & LanguageModelV3 = asLanguageModel(looker());
    const result = await generateText({ model, prompt: "Look" });
    expect(result.text).toBe("I look.It is there.");
    expect(result.reasoningText).toBe("I know.");
    expect(result.finishReason).toBe("stop");
    expect(result.warnings).toEqual([]);
    expect(result.usage.inputTokens).toBeGreaterThan(0);
    expect(result.usage.totalTokens).toBe((result.usage.inputTokens ?? 0) + (result.usage.outputTokens ?? 0));
    expect(result.response.modelId).toBe("looker");
    expect(result.steps).toHaveLength(1);
    expect(result.toolCalls).toMatchObject([
      { toolName: "look", input: { at: "door" }, providerExecuted: true },
    ]);
    expect(result.toolResults).toMatchObject([{ toolName: "look", output: { seen: "a cat" } }]);
  });

  it("streams words as they are written", async () => {
    const gate = Promise.withResolvers<void>();
    const model: Model = {
      id: "slow",
      features: { tools: true },
      async *stream() {
        yield { type: "text-delta", text: "Hello " };
        await gate.promise;
        yield { type: "text-delta", text: "there" };
        yield {
          type: "end",
          finishReason: "length",
          usage: { inputTokens: 7, outputTokens: 2, reasoningTokens: 1 },
        };
      },
    };
    const slow = agent({ name: "slow", model });
    const { textStream, finishReason, usage } = streamText({ model: asLanguageModel(slow), prompt: "Hi" });
    const heard: string[] = [];
    for await (const text of textStream) {
      heard.push(text);
      gate.resolve();
    }
    expect(heard).toEqual(["Hello ", "there"]);
    expect(await finishReason).toBe("length");
    expect(await usage).toMatchObject({
      inputTokens: 7,
      outputTokens: 2,
      outputTokenDetails: { reasoningTokens: 1 },
    });
  });

  it("is told the conversation, its files, and the system message after its instructions", async () => {
    const heard: unknown[] = [];
    await generateText({
      model: asLanguageModel(echo(heard), { run: { instructions: "In German" } }),
      system: "Say du",
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hallo" },
        {
          role: "user",
          content: [
            { type: "text", text: "And this?" },
            { type: "file", data: new Uint8Array([1, 2, 3]), mediaType: "image/png" },
          ],
        },
      ],
    });
    expect(heard).toMatchObject([
      [
        { role: "system", text: "Be brief\n\nIn German\n\nSay du" },
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "assistant", parts: [{ text: "Hallo" }] },
        { role: "user", parts: [{ text: "And this?" }, { mediaType: "image/png", data: "AQID" }] },
      ],
    ]);
  });

  it("goes on from what generateText made of an earlier answer", async () => {
    const first = await generateText({ model: asLanguageModel(looker()), prompt: "Look" });
    const heard: unknown[] = [];
    const messages = [...first.response.messages, { role: "user" as const, content: "And now?" }];
    await generateText({
      model: asLanguageModel(echo(heard)),
      messages: [{ role: "user", content: "Look" }, ...messages],
    });
    expect(JSON.stringify(heard)).toContain("a cat");
  });

  it("answers with JSON where it has a schema, whatever its other turns say", async () => {
    const output = z.object({ city: z.string() });
    const finder = agent({
      name: "finder",
      model: ({ messages }) =>
        messages.some(({ role }) => role === "tool")
          ? '{"city":"Bonn"}'
          : { text: "I look.", calls: [{ name: "look", arguments: {} }] },
      tools: [fakeTool("look", "seen")],
      output,
    });
    const model = asLanguageModel(finder);
    const asked = { prompt: "Where?", output: Output.object({ schema: output }) };
    const whole = await generateText({ model, ...asked });
    expect(whole.output).toEqual({ city: "Bonn" });
    expect(whole.warnings).toEqual([]);
    const { output: streamed } = streamText({ model, ...asked });
    expect(await streamed).toEqual({ city: "Bonn" });
  });

  it("warns of each setting that is the agent's own", async () => {
    const { warnings } = (await asLanguageModel(echo()).doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      temperature: 0,
      maxOutputTokens: 5,
      seed: 1,
      reasoning: "high",
      toolChoice: { type: "required" },
      tools: [{ type: "function", name: "mine", inputSchema: {} }],
      providerOptions: { openai: { user: "ada" } },
      responseFormat: { type: "json", schema: {} },
    })) as { warnings: { type: string; feature: string }[] };
    expect(warnings.map(({ type, feature }) => `${type} ${feature}`)).toEqual([
      "unsupported maxOutputTokens",
      "unsupported temperature",
      "unsupported seed",
      "unsupported providerOptions",
      "unsupported tools",
      "unsupported toolChoice",
      "unsupported reasoning",
      "unsupported responseFormat",
    ]);
  });

  it("cancels its run when the request is aborted, and when nobody reads on", async () => {
    const ends: string[] = [];
    const on = { "run-end": ({ outcome }: { outcome: { type: string } }) => ends.push(outcome.type) };
    const stop = new AbortController();
    const aborted = agent({ name: "aborted", model: endless(() => stop.abort()), on });
    const asked = generateText({
      model: asLanguageModel(aborted),
      prompt: "Go",
      abortSignal: stop.signal,
    });
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    expect(ends).toEqual(["cancelled"]);
    const slow = agent({ name: "slow", model: endless(), on });
    const { stream } = (await asLanguageModel(slow).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Go" }] }],
    })) as { stream: ReadableStream<{ type: string }> };
    for await (const { type } of stream) if (type === "text-delta") break;
    expect(ends).toEqual(["cancelled", "cancelled"]);
  });

  it("tells the end that its run had, when the request is aborted behind it", async () => {
    const asking = async (make: (on: { readonly "run-end": () => void }) => Agent<string>) => {
      const stop = new AbortController();
      const model = asLanguageModel(make({ "run-end": () => stop.abort() }));
      return model.doGenerate({
        prompt: [{ role: "user", content: [{ type: "text", text: "Go" }] }],
        abortSignal: stop.signal,
      });
    };
    const { content } = await asking((on) => agent({ name: "quick", model: () => "Done.", on }));
    expect(content).toMatchObject([{ type: "text", text: "Done." }]);
    const bounded = asking((on) => looker({ budget: { turns: 1 }, on }));
    await expect(bounded).rejects.toMatchObject({ code: "budget-exhausted" });
  });

  it("fails with the error of a run that does not answer", async () => {
    const bounded = looker({ budget: { turns: 1 } });
    const asked = generateText({ model: asLanguageModel(bounded), prompt: "Look" });
    await expect(asked).rejects.toMatchObject({ code: "budget-exhausted" });
    const errors: unknown[] = [];
    const { textStream } = streamText({
      model: asLanguageModel(bounded),
      prompt: "Look",
      onError: ({ error }) => void errors.push(error),
    });
    for await (const _text of textStream);
    expect(errors).toMatchObject([{ code: "budget-exhausted" }]);
  });

  it("is the model of another agent", async () => {
    const outer = agent({ name: "outer", model: aiSdk(asLanguageModel(looker())) });
    expect(await outer("Look")).toBe("I look.It is there.");
  });

  it("refuses what is no agent that takes messages, and other options", () => {
    const typed = agent({ name: "typed", model: () => "x", input: z.object({ id: z.number() }) });
    const look = tool({ name: "look", description: "Looks", inputSchema: z.object({}), execute: () => "" });
    const wrong: (() => unknown)[] = [
      () => asLanguageModel(typed),
      () => asLanguageModel(look as never),
      () => asLanguageModel((() => "x") as never),
      () => asLanguageModel(undefined as never),
      () => asLanguageModel(echo(), { temperature: 0 } as never),
      () => asLanguageModel(echo(), { run: 1 } as never),
    ];
    for (const make of wrong) expect(make).toThrow(expect.objectContaining({ code: "definition-invalid" }));
  });

  it("has its warnings told by generateText", async () => {
    const { warnings } = await generateText({ model: asLanguageModel(echo()), prompt: "Hi", temperature: 0 });
    expect(warnings).toMatchObject([{ type: "unsupported", feature: "temperature" }]);
  });
});
