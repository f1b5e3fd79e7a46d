import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelPath } from "../../src/adapters/model-files/cache.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { agent, tool } from "../../src/index.ts";
import { chat } from "../../src/doors.ts";
import { type Message, userMessage } from "../../src/message/message.ts";
import type { Model } from "../../src/model/model.ts";
import { llamaServerMissing, type LlamaServer, startLlamaServer } from "./llama-server.ts";
import { modelContract } from "./model.ts";

const missing = llamaServerMissing();
const settings = { maxOutputTokens: 200, seed: 5 };

const add = tool({
  name: "math.add",
  description: "Add two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
  execute: ({ a, b }) => Number(a) + Number(b),
});

/** Calls, as models of the Hermes kind are trained to write them. */
const hermes = `{%- if tools %}<|im_start|>system
For each call write a JSON object within <tool_call></tool_call> tags. Functions:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif -%}
{%- for message in messages %}
{%- if message.role == "assistant" %}<|im_start|>assistant
{{ message.content or "" }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif message.role == "tool" %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

describe.skipIf(missing !== undefined)("llama.cpp's own server, with random weights", () => {
  let server: LlamaServer;
  let model: Model;
  beforeAll(async () => {
    server = await startLlamaServer();
    model = openaiCompatible("random", { baseUrl: server.url });
  });
  afterAll(() => server?.close());

  modelContract("llama.cpp's server", {
    scripted: false,
    settings,
    timeoutMs: 20_000,
    open: () =>
      Promise.resolve({
        model: openaiCompatible("random", { baseUrl: server.url }),
        close: () => Promise.resolve(),
      }),
  });

  it("holds a reply to a schema", async () => {
    const schema = {
      type: "object",
      properties: { kind: { enum: ["cat", "dog"] }, age: { type: "integer", minimum: 0, maximum: 20 } },
      required: ["kind", "age"],
      additionalProperties: false,
    };
    const held = openaiCompatible("random", { baseUrl: server.url });
    const { text } = await chat({
      model: held,
      messages: "An animal?",
      format: { type: "schema", schema },
      settings,
    });
    const value = JSON.parse(text) as { readonly kind: string; readonly age: number };
    expect(["cat", "dog"]).toContain(value.kind);
    expect(Number.isInteger(value.age) && value.age >= 0 && value.age <= 20, text).toBe(true);
  });

  it("holds a reply to a grammar, in the first request too", async () => {
    const held = openaiCompatible("random", { baseUrl: server.url });
    const format = { type: "grammar", grammar: 'root ::= ("yes" | "no") " " [0-9]{3}' } as const;
    for (let seed = 1; seed <= 3; seed += 1) {
      const { text } = await chat({ model: held, messages: "?", format, settings: { seed } });
      expect(text).toMatch(/^(?:yes|no) \d{3}$/);
    }
    expect(held.features).toMatchObject({ format: "grammar", tools: false });
  });

  it("says that a model whose template knows no tools has none, which the server does not say", async () => {
    const asked = openaiCompatible("random", { baseUrl: server.url });
    expect(asked.features).toEqual({ fixedTools: true, format: "schema" });
    await expect(chat({ model: asked, messages: "1 + 2?", tools: [add], settings })).rejects.toMatchObject({
      code: "model-without-tools",
    });
    expect(asked.features).toEqual({ format: "grammar", tools: false });
  });

  it("falls back to JSON by itself, whose calls a grammar then holds to their schemas", async () => {
    const statuses: string[] = [];
    for (let seed = 1; seed <= 6; seed += 1) {
      const asked = openaiCompatible("random", {
        baseUrl: server.url,
        settings: { seed, maxOutputTokens: 400 },
      });
      const calculator = agent({ name: "calculator", model: asked, tools: [add], budget: { turns: 3 } });
      const drivers = new Set<string>();
      const run = calculator.stream("1 + 2?");
      let next = await run.next();
      for (; next.done !== true; next = await run.next())
        if (next.value.type === "message-start") drivers.add(next.value.driver);
      expect([...drivers]).toEqual(["native", "json"]);
      for (const message of next.value.transcript.messages)
        if (message.role === "tool") statuses.push(message.status); // `read_result` of nothing is an error, and fits its schema
    }
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses).toContain("ok");
    expect(statuses).not.toContain("invalid");
  });

  it("stops the server's work when it is aborted or left", async () => {
    for (const leave of ["abort", "break"] as const) {
      const controller = new AbortController();
      const request = {
        messages: [userMessage("x")],
        tools: [],
        toolChoice: "auto",
        settings: { maxOutputTokens: 3_000 },
      } as const;
      try {
        for await (const delta of model.stream(request, { signal: controller.signal })) {
          expect(delta.type).toBe("text-delta");
          if (leave === "break") break;
          controller.abort();
        }
      } catch (error) {
        expect(controller.signal.aborted, String(error)).toBe(true);
      }
      let isBusy = true;
      for (let time = 0; time < 40 && isBusy; time += 1) {
        await sleep(50);
        isBusy = await server.busy();
      }
      expect(isBusy, leave).toBe(false);
    }
  });

  it("counts what the server read from its cache", async () => {
    const first: Message[] = [userMessage("One two three four five six seven eight.")];
    const reply = await chat({ model, messages: first, settings: { maxOutputTokens: 5, seed: 1 } });
    const next = [...first, reply.message, userMessage("And now?")];
    const { usage } = await chat({ model, messages: next, settings: { maxOutputTokens: 5, seed: 1 } });
    expect(usage.cachedInputTokens).toBeGreaterThan(usage.inputTokens / 3);
  });
});

describe.skipIf(missing !== undefined)("llama.cpp's own server without --jinja", () => {
  it("has no tools", async () => {
    const server = await startLlamaServer({ jinja: false });
    try {
      const model = openaiCompatible("random", { baseUrl: server.url });
      await expect(chat({ model, messages: "1 + 2?", tools: [add], settings })).rejects.toMatchObject({
        code: "model-without-tools",
      });
    } finally {
      await server.close();
    }
  });
});

const smollm = modelPath("smollm2-135m");
const noSmollm = missing === undefined && !existsSync(smollm);
if (noSmollm) console.log(`skipped: native calls of llama.cpp's server: there is no ${smollm}`);

describe.skipIf(missing !== undefined || noSmollm)("llama.cpp's own server, with SmolLM2", () => {
  let server: LlamaServer;
  beforeAll(async () => {
    server = await startLlamaServer({ path: smollm, template: hermes });
  });
  afterAll(() => server?.close());

  /** A model so small calls when it has seen calls. */
  const shown = [
    [1, 2],
    [4, 4],
    [7, 2],
  ].flatMap(([a = 0, b = 0], index): Message[] => {
    const [id, name, sum] = [`c${index}`, add.name, String(a + b)];
    return [
      userMessage(`${a} + ${b}`),
      { role: "assistant", parts: [{ type: "tool-call", id, name, arguments: { a, b } }] },
      { role: "tool", callId: id, name, status: "ok", text: sum },
      { role: "assistant", parts: [{ type: "text", text: sum }] },
    ];
  });

  it("calls natively, under the tool's own name, and reads its result", async () => {
    const model = openaiCompatible("smollm2", {
      baseUrl: server.url,
      settings: { temperature: 0, maxOutputTokens: 60 },
    });
    const asked = [...shown, userMessage("3 + 5")];
    for (const toolChoice of ["auto", { tool: add.name }] as const) {
      const reply = await chat({ model, messages: asked, tools: [add], toolChoice });
      expect(reply.calls).toMatchObject([{ name: "math.add", arguments: { a: 3, b: 5 } }]);
      expect(reply.finishReason).toBe("tool-calls");
      const result: Message = {
        role: "tool",
        callId: reply.calls[0]?.id ?? "",
        name: add.name,
        status: "ok",
        text: "8",
      };
      const answer = await chat({ model, messages: [...asked, reply.message, result], tools: [add] });
      expect(answer.text).toContain("8");
      expect(answer.usage.cachedInputTokens).toBeGreaterThan(300);
    }
    expect(model.features).toMatchObject({ tools: true });
  });
});
