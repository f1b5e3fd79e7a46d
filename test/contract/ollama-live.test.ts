import { describe, expect, it } from "vitest";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { agent, tool } from "../../src/index.ts";
import type { Model } from "../../src/model/model.ts";
import { modelContract } from "./model.ts";

const url = process.env["WRIT_TEST_OLLAMA"];
const withTools = process.env["WRIT_TEST_OLLAMA_MODEL"] ?? "smol";
/** A model whose template does not mention tools. */
const withoutTools = process.env["WRIT_TEST_OLLAMA_PLAIN"] ?? "smol-plain";

if (url === undefined) console.log("skipped: a live Ollama server (set WRIT_TEST_OLLAMA to its address)");

const adapters: Readonly<Record<string, (name: string) => Model>> = {
  ollama: (name) => ollama(name, { host: url ?? "", maxOutputTokens: 400 }),
  "openai-compatible": (name) =>
    openaiCompatible(name, { baseUrl: `${url}/v1`, settings: { maxOutputTokens: 400 } }),
};

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

describe.skipIf(url === undefined).each(Object.entries(adapters))(
  "a live Ollama, through %s",
  (name, open) => {
    modelContract(`${name} of a live Ollama`, {
      scripted: false,
      settings: { maxOutputTokens: 200, temperature: 0 },
      timeoutMs: 120_000,
      open: () => Promise.resolve({ model: open(withTools), close: () => Promise.resolve() }),
    });

    it("falls back to JSON by itself when the model has no tools", { timeout: 240_000 }, async () => {
      const calculator = agent({
        name: "calculator",
        model: open(withoutTools),
        tools: [add],
        budget: { turns: 3 },
        settings: { temperature: 0 },
      });
      const drivers = new Set<string>();
      const run = calculator.stream("Use math.add: what is 3 + 5?");
      let next = await run.next();
      for (; next.done !== true; next = await run.next())
        if (next.value.type === "message-start") drivers.add(next.value.driver);
      const results = next.value.transcript.messages.filter((message) => message.role === "tool");
      expect([...drivers]).toEqual(["native", "json"]);
      expect(results.length).toBeGreaterThan(0);
      expect(results.every(({ status }) => status === "ok")).toBe(true);
    });
  },
);
