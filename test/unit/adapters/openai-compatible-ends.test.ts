import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  openaiCompatible,
  type OpenaiCompatibleOptions,
} from "../../../src/adapters/model/openai-compatible.ts";
import type { Delta, Model } from "../../../src/model/model.ts";
import { openaiChunk as chunk } from "../../contract/openai-wire.ts";
import { playedServer, type PlayedServer, sse } from "../../contract/played-server.ts";
import { finishOf } from "../../contract/read-deltas.ts";
import { ask } from "./ask-openai.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const model = (options: OpenaiCompatibleOptions = {}): Model =>
  openaiCompatible("m", { baseUrl: `${server.url}/v1`, ...options });

function replied(events: readonly object[], options?: OpenaiCompatibleOptions): Promise<readonly Delta[]> {
  server.play({ sse: sse(events, true) });
  return ask(model(options));
}

describe("an error among the chunks of a reply", () => {
  const said = chunk({ content: "a" });

  it.each<[string, object, string]>([
    ["a number", { error: 503, message: "the moon is full" }, "the moon is full"],
    ["a number alone", { error: 503 }, "503"],
    ["a yes", { error: true, message: "the moon is full" }, "the moon is full"],
    ["a list", { error: ["the moon is full"] }, "the moon is full"],
    [
      "in the choice, as OpenRouter writes it",
      {
        choices: [
          {
            index: 0,
            delta: { content: "" },
            finish_reason: "error",
            error: { code: 502, message: "the moon is full" },
          },
        ],
      },
      "the moon is full",
    ],
  ])("is %s, and its words are told", async (_how, event, words) => {
    const error: unknown = await replied([said, event], { doneEnds: true }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "provider-failed", retryable: true });
    expect(String(error)).toContain(words);
  });

  it.each([{ error: null }, { error: "" }, { error: false }, { error: 0 }])(
    "is none where a field of its name says that there is none: %j",
    async (field) => {
      const deltas = await replied([
        { ...said, ...field },
        { ...chunk({}, "stop"), ...field },
      ]);
      expect(finishOf(deltas)).toBe("stop");
    },
  );
});

describe("the end of a reply", () => {
  it.each(["hang", "cut"] as const)(
    "has come with its finish reason, if the connection then goes on to %s",
    async (after) => {
      server.play({ sse: sse([chunk({ content: "a" }), chunk({}, "stop")]), after });
      expect(finishOf(await ask(model()))).toBe("stop");
    },
  );

  it("is read with the counts that come behind its finish reason", async () => {
    const counts = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } };
    server.play({ sse: sse([chunk({ content: "a" }), chunk({}, "stop"), counts]), after: "hang" });
    expect((await ask(model())).at(-1)).toMatchObject({ usage: { inputTokens: 5, outputTokens: 2 } });
  });

  it("has come with a refusal whose body does not end", async () => {
    server.play({ status: 400, sse: '{"error": {"message": "the moon', after: "hang" });
    await expect(ask(model())).rejects.toMatchObject({ code: "provider-failed", retryable: false });
  }, 20_000);

  it.each([
    ["end_turn", "stop"],
    ["max_output_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content-filter"],
    ["abort", "error"], // vLLM, of a reply that its engine gave up
  ])("is read where the server says %s", async (reason, finish) => {
    expect(finishOf(await replied([chunk({ content: "a" }), chunk({}, reason)]))).toBe(finish);
  });

  it("has not come where each chunk has the word null for its reason", async () => {
    await expect(replied([chunk({ content: "a" }, "null")])).rejects.toMatchObject({
      code: "provider-failed",
      retryable: true,
    });
  });
});
