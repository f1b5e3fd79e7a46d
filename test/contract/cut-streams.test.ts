import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import type { WritError } from "../../src/error/writ-error.ts";
import { agent } from "../../src/index.ts";
import type { Model } from "../../src/model/model.ts";
import { fakeTool } from "../../src/testing.ts";
import { answersOf, at, type Recording, recordingsIn } from "./ai-sdk-recordings.ts";
import { anthropic, openaiCompatible as aiSdkCompatible, specVersions } from "./ai-sdk-wire.ts";
import { playedServer, type PlayedServer } from "./played-server.ts";
import { recordedChats } from "./recorded-chats.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const packages = "vercel-ai/packages";
const prism = "prism/tests/Fixtures";
const key = "played";

/** Recordings of one kind of server, and the event in which it says that the reply has ended. */
interface Kind {
  readonly recordings: readonly Recording[];
  readonly ends: (event: unknown) => boolean;
}

const chats: Kind = {
  recordings: recordedChats.map(([, recording]) => recording),
  ends: (event) => typeof at(event, "choices", 0, "finish_reason") === "string",
};
const messages: Kind = {
  recordings: [
    ...recordingsIn(`${packages}/anthropic/src/__fixtures__`, /\.chunks\.txt$/),
    ...recordingsIn(`${prism}/anthropic`, /\.sse$/),
  ].flatMap((recording) => answersOf(recording, "message_stop")),
  ends: (event) => at(event, "type") === "message_delta",
};
const responses: Kind = {
  recordings: recordingsIn(`${packages}/openai/src/responses/__fixtures__`, /\.chunks\.txt$/).flatMap(
    (recording) => answersOf(recording, "response.completed"),
  ),
  ends: (event) => /^response\.(?:completed|incomplete|failed)$/.test(String(at(event, "type"))),
};
const geminis: Kind = {
  recordings: recordingsIn(`${packages}/google/src/__fixtures__`, /\.chunks\.txt$/),
  ends: (event) => at(event, "candidates", 0, "finishReason") !== undefined,
};
const ollamas: Kind = {
  recordings: recordingsIn(`${prism}/ollama`, /\.sse$/).map((recording) => ({
    ...recording,
    events: recording.sse
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  })),
  ends: (event) => at(event, "done") === true,
};

const url = (): string => server.url;
const throughAiSdk = (make: () => AiSdkModel) => (): Model => aiSdk(make());
const kinds: readonly (readonly [string, Kind, () => Model])[] = [
  ["openaiCompatible", chats, () => openaiCompatible("m", { baseUrl: url() })],
  ["ollama", ollamas, () => ollama("m", { host: url() })],
  ...specVersions.flatMap((version) => [
    [
      `@ai-sdk/openai-compatible ${version}`,
      chats,
      throughAiSdk(() => aiSdkCompatible(version, url())),
    ] as const,
    [`@ai-sdk/anthropic ${version}`, messages, throughAiSdk(() => anthropic(version, url()))] as const,
  ]),
  [
    "@ai-sdk/openai, chat",
    chats,
    throughAiSdk(() => createOpenAI({ baseURL: url(), apiKey: key }).chat("gpt-4o")),
  ],
  [
    "@ai-sdk/openai, responses",
    responses,
    throughAiSdk(() => createOpenAI({ baseURL: url(), apiKey: key }).responses("gpt-5")),
  ],
  ["@ai-sdk/google", geminis, throughAiSdk(() => createGoogle({ baseURL: url(), apiKey: key })("gemini-3"))],
];

/** What had come of a reply at three points on the way to its end. Recordings that are over with one event have no way. */
function cutsOf({ sse, events }: Recording, ends: Kind["ends"]): readonly string[] {
  const lines = sse.split("\n");
  const data = [...lines.keys()].filter((index) => /^(?:data:|\{)/.test(lines[index] ?? ""));
  const end = data[events.findIndex(ends)] ?? 0;
  const before = lines.slice(0, end).join("\n");
  return before === ""
    ? []
    : [0.3, 0.6, 0.9].map((part) => before.slice(0, Math.floor(before.length * part)));
}

/** Names that stand in a recording, those of its calls among them. */
function namesIn({ sse }: Recording): readonly string[] {
  const names = [...sse.matchAll(/"name": ?"([a-zA-Z][\w-]{0,40})"/g)].map(([, name = ""]) => name);
  return [...new Set(names)];
}

describe.each(kinds)("recorded streams that end early: %s", (_name, { recordings, ends }, model) => {
  it.skipIf(recordings.length === 0)("are no answers, run nothing, and may be asked again", async () => {
    const ended: string[] = [];
    for (const recording of recordings)
      for (const cut of cutsOf(recording, ends)) {
        server.play({ sse: cut });
        const tools = namesIn(recording).map((name) => fakeTool(name, "done"));
        const what = await agent({ name: "a", model: model(), tools, retry: false })
          .run("x")
          .then(
            ({ outcome }) => `${outcome.type} ${recording.name}`,
            ({ code, retryable }: WritError) => `${code}, retryable: ${retryable}`,
          );
        const ran = tools.flatMap(({ name, calls }) => calls.map(() => name));
        ended.push([what, ...ran].join(" "));
      }
    expect([...new Set(ended)]).toEqual(["provider-failed, retryable: true"]);
  });
});
