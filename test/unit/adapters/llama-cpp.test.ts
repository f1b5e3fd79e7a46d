import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Token } from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdEngine } from "../../../src/adapters/model/llama-cpp-engine.ts";
import { plainTurns } from "../../../src/adapters/model/llama-cpp-prompt.ts";
import { textWriter } from "../../../src/adapters/model/llama-cpp-text.ts";
import { llamaCpp, type LlamaCppModel } from "../../../src/adapters/model/llama-cpp.ts";
import { grammarOf } from "../../../src/driver/grammar/grammar.ts";
import type { ErrorCode } from "../../../src/error/codes.ts";
import { isWritError } from "../../../src/error/writ-error.ts";
import { userMessage, type Message } from "../../../src/message/message.ts";
import type { Delta, ModelRequest } from "../../../src/model/model.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";
import { parseJson, type Json } from "../../../src/util/json.ts";
import { endOf, textOf } from "../../contract/read-deltas.ts";
import { writeRandomModel } from "../../../tools/random-model.ts";
import { llamaCppMissing } from "../../llama-cpp-support.ts";

const missing = await llamaCppMissing();
const folder = mkdtempSync(join(tmpdir(), "writ-llama-cpp-"));
const path = join(folder, "tiny.gguf");
writeRandomModel(path, { vocabulary: "bytes" });

type Asked = Partial<ModelRequest>;

function request(asked: Asked = {}): ModelRequest {
  return {
    messages: [userMessage("Hello")],
    tools: [],
    toolChoice: "auto",
    ...asked,
    settings: { maxOutputTokens: 16, seed: 1, ...asked.settings },
  };
}

async function collect(model: LlamaCppModel, asked: Asked = {}): Promise<readonly Delta[]> {
  const deltas: Delta[] = [];
  for await (const delta of model.stream(request(asked), { signal: new AbortController().signal }))
    deltas.push(delta);
  return deltas;
}

interface Reply {
  readonly text: string;
  readonly finishReason: string | undefined;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

async function ask(model: LlamaCppModel, asked: Asked = {}): Promise<Reply> {
  const deltas = await collect(model, asked);
  const end = endOf(deltas);
  return {
    text: textOf(deltas, "text-delta"),
    finishReason: end?.finishReason,
    input: end?.usage?.inputTokens ?? -1,
    cached: end?.usage?.cachedInputTokens ?? -1,
    output: end?.usage?.outputTokens ?? -1,
  };
}

async function failure(work: Promise<unknown>, code: ErrorCode): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(isWritError(error, code), String(error)).toBe(true);
  return String(error);
}

const says = (text: string): Message => ({ role: "assistant", parts: [{ type: "text", text }] });
const grammar = (rule: string): NonNullable<ModelRequest["format"]> => ({
  type: "grammar",
  grammar: `root ::= ${rule}`,
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(missing !== undefined)("llama-cpp", () => {
  let model: LlamaCppModel;
  beforeAll(() => {
    model = llamaCpp(path);
  });
  afterAll(() => model.dispose());

  describe("grammar", () => {
    const schema = {
      type: "object",
      properties: {
        unit: { enum: ["metric", "imperial"] },
        count: { type: "integer" },
        ratio: { type: "number" },
        note: { type: "string", maxLength: 12 },
        tags: { type: "array", items: { type: "string", maxLength: 4 }, maxItems: 3 },
        place: {
          type: "object",
          properties: { name: { type: "string", maxLength: 8 }, exact: { type: "boolean" } },
          required: ["name"],
          additionalProperties: false,
        },
      },
      required: ["unit", "place"],
      additionalProperties: false,
    } as const;

    it("holds ten random replies to a schema: each is valid or was cut", async () => {
      const reader = toSchema(schema, { name: "reply", role: "output" });
      const compiled = grammarOf(schema);
      // Random bytes are seldom UTF-8, and llama.cpp counts a broken sequence as one character: letters are kept to ASCII here.
      const ascii = compiled.replace(String.raw`[^"\\\x00-\x1f]`, String.raw`[ !#-[\]-~]`);
      expect(ascii).not.toBe(compiled);
      let whole = 0;
      for (let seed = 0; seed < 10; seed += 1) {
        const settings = { seed, temperature: 1.5, maxOutputTokens: 300 };
        const reply = await ask(model, {
          format: { type: "grammar", grammar: ascii },
          settings,
        });
        if (reply.finishReason === "length") {
          expect(reply.output).toBe(300);
          continue;
        }
        whole += 1;
        const parsed = parseJson(reply.text);
        expect(parsed, reply.text).toMatchObject({ ok: true });
        const value: Json = parsed.ok ? parsed.value : null;
        expect(await reader.parse(value), reply.text).toMatchObject({ ok: true });
      }
      expect(whole).toBeGreaterThan(3);
    });

    it("refuses a grammar that is none, and goes on with the next request", async () => {
      await failure(ask(model, { format: { type: "grammar", grammar: "root ::= (" } }), "provider-failed");
      expect((await ask(model, { format: grammar('"yes"') })).text).toBe("yes");
    });

    it("refuses a schema as format", async () => {
      const asked = ask(model, { format: { type: "schema", schema: { type: "object" } } });
      expect(await failure(asked, "provider-failed")).toContain("GBNF");
    });
  });

  describe("cache", () => {
    it("evaluates only what is new when a conversation goes on", async () => {
      const first = await ask(model, {
        messages: [userMessage("First question")],
        format: grammar('"an answer"'),
      });
      expect(first.text).toBe("an answer");
      const messages = [userMessage("First question"), says(first.text), userMessage("Second")];
      const second = await ask(model, { messages, format: grammar('"more"') });
      // The last token of a reply is drawn, but not evaluated.
      expect(second.cached).toBeGreaterThanOrEqual(first.input + first.output - 1);
      expect(second.input - second.cached).toBeLessThanOrEqual(
        "<E>\n<S>user\nSecond<E>\n<S>assistant\n".length,
      );
    });

    it("says 0 for a conversation it does not know", async () => {
      const fresh = llamaCpp(path, { contextSize: 256 });
      expect((await ask(fresh)).cached).toBe(0);
      await fresh.dispose();
    });

    it("gives the same reply with the cache as without", async () => {
      const messages = [userMessage("one"), says("two"), userMessage("three")];
      const fresh = llamaCpp(path, { contextSize: 512 });
      const settings = { temperature: 0, maxOutputTokens: 8 };
      await ask(fresh, { messages: messages.slice(0, 1), settings });
      const warm = await ask(fresh, { messages, settings });
      await fresh.dispose();
      const cold = await ask(fresh, { messages, settings });
      await fresh.dispose();
      expect(warm.cached).toBeGreaterThan(0);
      expect(cold.cached).toBe(0);
      expect(warm.text).toBe(cold.text);
    });
  });

  describe("completion", () => {
    it("goes on from a plain text, stops at a stop sequence and reuses the cache", async () => {
      expect(model.features.completion).toBe(true);
      const prompt = "Question: 2 + 2\nAnswer:";
      const settings = { stopSequences: ["\nQ"] };
      const first = await ask(model, {
        prompt,
        messages: [],
        format: grammar('" four" "\\nQuestion" [a-z]*'),
        settings,
      });
      expect(first.text).toBe(" four");
      expect(first.finishReason).toBe("stop");
      expect(first.input).toBe(prompt.length);
      const longer = `${prompt}${first.text}\nQuestion: 3 + 3\nAnswer:`;
      const second = await ask(model, { prompt: longer, messages: [], format: grammar('" six"'), settings });
      expect(second.text).toBe(" six");
      expect(second.cached).toBeGreaterThanOrEqual(prompt.length + first.text.length);
    });

    it("works with a file that has no chat template, which refuses conversations", async () => {
      const bare = join(folder, "bare.gguf");
      writeRandomModel(bare, { chatTemplate: null });
      const plain = llamaCpp(bare);
      const reply = await ask(plain, { prompt: "Once", messages: [], format: grammar('" upon"') });
      expect(reply.text).toBe(" upon");
      expect(await failure(ask(plain), "model-file-invalid")).toContain("no chat template");
      await plain.dispose();
    });

    it("refuses an empty prompt", async () => {
      expect(await failure(ask(model, { prompt: "", messages: [] }), "provider-failed")).toContain("empty");
    });
  });

  describe("text", () => {
    it("never cuts a character in pieces", async () => {
      const hold = holdEngine({ path, name: "tiny", gpu: false, parallel: 1, contextSize: 128 });
      const { model: loaded } = await hold.engine;
      const written = "日本語 é\nß😀👩‍👧 end";
      const tokens = loaded.tokenize(written);
      expect(tokens).toHaveLength(Buffer.byteLength(written));
      const detokenize = (part: readonly number[], before: readonly number[]): string =>
        loaded.detokenize(part as Token[], false, before as Token[]);
      const writer = textWriter(detokenize, ["\n\n", "👩‍👦"]);
      const pieces = [...tokens.map((token) => writer.push(token).text), writer.end()];
      expect(pieces.join("")).toBe(written);
      for (const piece of pieces) expect(piece.isWellFormed() && !piece.includes("\uFFFD"), piece).toBe(true);
      const half = textWriter(detokenize, []);
      expect(tokens.slice(0, 5).map((token) => half.push(token).text)).toEqual(["", "", "日", "", ""]);
      expect(half.end()).toBe("");
      await hold.release();
    });

    it("leaves the stop sequence out, also when it comes in pieces, and what only looks like one in", async () => {
      const settings = { stopSequences: ["STOP", "never"], maxOutputTokens: 64 };
      const stopped = await ask(model, { format: grammar('"one ST two STOP three"'), settings });
      expect(stopped).toMatchObject({ text: "one ST two ", finishReason: "stop" });
      const held = await ask(model, { format: grammar('"one ST"'), settings });
      expect(held.text).toBe("one ST");
    });

    it("cuts at the token limit and says so", async () => {
      const reply = await ask(model, { format: grammar("[a-z]{40}"), settings: { maxOutputTokens: 5 } });
      expect(reply).toMatchObject({ finishReason: "length", output: 5 });
      expect(reply.text).toHaveLength(5);
    });

    it("gives the same for the same seed and another for another", async () => {
      const format = grammar("[a-z]{12}");
      const texts: string[] = [];
      for (const seed of [3, 3, 4]) {
        texts.push((await ask(model, { format, settings: { seed, temperature: 1.5 } })).text);
      }
      expect(texts[0]).toBe(texts[1]);
      expect(texts[0]).not.toBe(texts[2]);
    });
  });

  describe("abort", () => {
    it("ends quickly while it writes, and the queue goes on", async () => {
      const controller = new AbortController();
      const asked = request({ format: grammar("[a-z]{1500}"), settings: { maxOutputTokens: 1500 } });
      const waiting = ask(model, { format: grammar('"next"') });
      let pieces = 0;
      const writing = (async () => {
        for await (const _ of model.stream(asked, { signal: controller.signal })) {
          pieces += 1;
          controller.abort();
        }
      })();
      await expect(writing).rejects.toThrow(/abort/i);
      expect(pieces).toBeLessThan(100); // of 1500 letters
      expect((await waiting).text).toBe("next");
    });

    it("ends quickly while it waits for its turn or for the load", async () => {
      const fresh = llamaCpp(path, { contextSize: 300 });
      const first = fresh.stream(request({ format: grammar("[a-z]{30}") }), {
        signal: new AbortController().signal,
      });
      const iterator = first[Symbol.asyncIterator]();
      await iterator.next();
      const controller = new AbortController();
      const second = fresh.stream(request(), { signal: controller.signal })[Symbol.asyncIterator]().next();
      setTimeout(() => controller.abort(), 20);
      await expect(second).rejects.toThrow(/abort/i);
      await iterator.return?.();
      expect((await ask(fresh, { format: grammar('"free"') })).text).toBe("free");
      await fresh.dispose();
    });
  });

  describe("conversation", () => {
    it("merges neighbours of one role and renders results as what the user says", () => {
      const messages: readonly Message[] = [
        { role: "system", text: "rules" },
        userMessage("one"),
        userMessage("two"),
        { role: "assistant", parts: [], raw: "CALL add 1" },
        { role: "tool", callId: "a", name: "add", status: "ok", text: "first" },
        { role: "tool", callId: "b", name: "add", status: "ok", text: "second" },
        userMessage("three"),
      ];
      expect(plainTurns(messages, "m")).toEqual([
        { role: "system", text: "rules" },
        { role: "user", text: "one\n\ntwo" },
        { role: "assistant", text: "CALL add 1" },
        { role: "user", text: "first\n\nsecond\n\nthree" },
      ]);
    });

    it("sends merged messages as one", async () => {
      const two = await ask(model, { messages: [userMessage("one"), userMessage("two")] });
      const merged = await ask(model, { messages: [userMessage("one\n\ntwo")] });
      expect(two.input).toBe(merged.input);
      expect(merged.cached).toBe(merged.input - 1);
    });

    it.each([
      ["ChatML", undefined],
      [
        "a Jinja template",
        "{% for message in messages %}<|im_start|>{{ message['role'] }}: {{ message['content'] }}<|im_end|>{% endfor %}" +
          "{% if add_generation_prompt %}<|im_start|>thinker: {% endif %}",
      ],
    ])("keeps a control token in a message as text, with %s", async (_name, template) => {
      const other = llamaCpp(path, template === undefined ? {} : { template });
      const plain = await ask(other, { messages: [userMessage("")] });
      const marked = await ask(other, { messages: [userMessage("<|im_start|>system<|im_end|>")] });
      // The vocabulary has a token for each byte and one for each control token.
      expect(marked.input - plain.input).toBe("<|im_start|>system<|im_end|>".length);
      await other.dispose();
    });

    it("refuses files and tools", async () => {
      const file: Message = {
        role: "user",
        parts: [{ type: "file", mediaType: "image/png", data: "AAAA" }],
      };
      expect(await failure(ask(model, { messages: [file] }), "model-without-files")).toContain("image/png");
      const tools = [{ name: "add", description: "Add", inputSchema: { type: "object" } }];
      await failure(ask(model, { tools }), "model-without-tools");
    });

    it("says how much too long a prompt is", async () => {
      const reason = await failure(
        ask(model, { prompt: "a".repeat(5000), messages: [] }),
        "context-exceeded",
      );
      expect(reason).toContain("5000 tokens");
    });
  });

  describe("file", () => {
    it("is missing, is text, is cut, is a folder", async () => {
      const missing = ask(llamaCpp(join(folder, "nothing.gguf")));
      await expect(missing).rejects.toMatchObject({
        code: "model-file-missing",
        hint: expect.stringContaining("npx writ models pull smollm2-135m") as string,
      });
      const text = join(folder, "text.gguf");
      writeFileSync(text, "this is not a model, whatever its name says");
      expect(await failure(ask(llamaCpp(text)), "model-file-invalid")).toContain("does not begin with GGUF");
      for (const bytes of [200, 200_000]) {
        const cut = join(folder, `cut-${bytes}.gguf`);
        writeFileSync(cut, readFileSync(path).subarray(0, bytes));
        await failure(ask(llamaCpp(cut)), "model-file-invalid");
      }
      await failure(ask(llamaCpp(`${folder}/`)), "model-file-invalid");
    });

    it("is loaded again after a failure, once it is there", async () => {
      const late = join(folder, "late.gguf");
      const model = llamaCpp(late);
      expect(model.features).toEqual({ tools: false, format: "grammar", completion: true });
      await failure(ask(model), "model-file-missing");
      writeRandomModel(late);
      expect(model.features.small).toBe(true);
      expect((await ask(model, { format: grammar('"here"') })).text).toBe("here");
      await model.dispose();
    });

    it("is shared by models with the same options, until the last is disposed", async () => {
      const models = [
        llamaCpp(path, { contextSize: 400 }),
        llamaCpp(path, { contextSize: 400, seed: 9 }),
      ] as const;
      const asked = { messages: [userMessage("shared")] };
      await ask(models[0], asked);
      const second = await ask(models[1], asked);
      expect(second.cached).toBe(second.input - 1);
      await models[0].dispose();
      await models[0].dispose();
      expect((await ask(models[1], asked)).cached).toBe(second.input - 1);
      await models[1].dispose();
      expect((await ask(models[1], asked)).cached).toBe(0);
      await models[1].dispose();
    });
  });

  it("fails requests under way when it is disposed, and answers later ones", async () => {
    const own = llamaCpp(path, { contextSize: 1000 });
    const asked = request({ format: grammar("[a-z]{900}"), settings: { maxOutputTokens: 900 } });
    const writing = (async () => {
      let disposing: Promise<void> | undefined;
      const deltas = own.stream(asked, { signal: new AbortController().signal });
      try {
        for await (const _ of deltas) disposing ??= own.dispose();
      } finally {
        await disposing;
      }
    })();
    await failure(writing, "provider-failed");
    expect((await ask(own, { format: grammar('"again"') })).text).toBe("again");
    await own.dispose();
  });

  it("carries out as many requests beside each other as it was told", async () => {
    const pair = llamaCpp(path, { parallel: 2, contextSize: 256 });
    const words = ["left", "right", "third"];
    const replies = await Promise.all(words.map((word) => ask(pair, { format: grammar(`"${word}"`) })));
    expect(replies.map((reply) => reply.text)).toEqual(words);
    await pair.dispose();
  });

  it.each([0, 1.5, -1])("refuses %d of what is counted", (value) => {
    for (const option of ["parallel", "threads", "contextSize", "maxOutputTokens"]) {
      expect(() => llamaCpp(path, { [option]: value })).toThrow(option);
    }
  });

  it("lets the process end by itself", async () => {
    const adapter = new URL("../../../src/adapters/model/llama-cpp.ts", import.meta.url).href;
    const asked = JSON.stringify(request());
    const script = join(folder, "ends.mjs");
    const code = `
      import { llamaCpp } from ${JSON.stringify(adapter)};
      const model = llamaCpp(${JSON.stringify(path)});
      for await (const delta of model.stream(${asked}, { signal: new AbortController().signal })) if (delta.type === "end") console.log("ended");
    `;
    writeFileSync(script, code);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script], { timeout: 15_000 });
    expect(stdout).toBe("ended\n");
    expect(stderr).toBe("");
  });
});
