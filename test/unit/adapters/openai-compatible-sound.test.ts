import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { agent } from "../../../src/index.ts";
import type { Model } from "../../../src/model/model.ts";
import { openaiChunk as chunk } from "../../contract/openai-wire.ts";
import { playedServer, type PlayedServer, sse } from "../../contract/played-server.ts";
import { textOf } from "../../contract/read-deltas.ts";
import { ask } from "./ask-openai.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const model = (): Model => openaiCompatible("m", { baseUrl: `${server.url}/v1` });

describe("a reply that is spoken", () => {
  it.each<[string, { readonly pieces: readonly string[]; readonly type: string; readonly data: string }]>([
    ["a wav", { pieces: ["UklGRg=="], type: "audio/wav", data: "UklGRg==" }],
    ["an mp3", { pieces: ["SUQz"], type: "audio/mpeg", data: "SUQz" }],
    [
      "samples in pieces",
      { pieces: ["AAE=", "AgM="], type: "audio/L16;codec=pcm;rate=24000", data: "AAECAw==" },
    ],
  ])("reads a sound, and what is said in it as text: %s", async (_what, { pieces, type, data }) => {
    const audio = [
      { id: "audio_1", transcript: "Hel" },
      { transcript: "lo." },
      ...pieces.map((piece) => ({ data: piece })),
      { expires_at: 1 },
    ];
    server.play({ sse: sse([...audio.map((each) => chunk({ audio: each })), chunk({}, "stop")], true) });
    const deltas = await ask(model());
    expect(textOf(deltas, "text-delta")).toBe("Hello.");
    const files = deltas.flatMap((delta) => (delta.type === "file" ? [delta.part] : []));
    expect(files).toEqual([{ type: "file", mediaType: type, data }]);
  });

  it("takes a sound without words for an answer", async () => {
    server.play({
      json: {
        choices: [
          { message: { content: null, audio: { id: "a", data: "UklGRg==" } }, finish_reason: "stop" },
        ],
      },
    });
    const before = server.requests.length;
    const { files, text } = await agent({ name: "a", model: model() }).run("Sing.");
    expect([files.map(({ mediaType }) => mediaType), text]).toEqual([["audio/wav"], ""]);
    expect(server.requests).toHaveLength(before + 1);
  });
});
