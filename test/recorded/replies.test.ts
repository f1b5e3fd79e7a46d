import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { callsOf, type Message, userMessage } from "../../src/message/message.ts";
import { assemble, type Reply } from "../../src/model/assemble.ts";
import type { Model } from "../../src/model/model.ts";
import { at, type Recording, recordingsIn, type Said, saidByOpenai } from "../contract/ai-sdk-recordings.ts";
import { expectSame } from "../contract/expect-same.ts";
import { type Answer, playedServer, type PlayedServer, sse } from "../contract/played-server.ts";
import { openaiChunk } from "../contract/openai-wire.ts";
import { recordedChats, recordedWholeChats } from "../contract/recorded-chats.ts";
import { ollamas } from "./cuts.ts";
import { tellRows } from "./tell-rows.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
const rows = new Map<string, { provider: string; right: number; wrong: number; notApplicable: number }>();
afterAll(() => {
  tellRows("replies", [...rows.values()]);
  return server.close();
});

/** A recorded reply, how it is played, and what it says, read by the tests alone. */
interface Case {
  readonly provider: string;
  readonly recording: Recording;
  readonly answer: Answer;
  readonly said: Partial<Said>;
  /** What must be in the next request, under the names that it came with. */
  readonly back: readonly (readonly [field: string, value: string])[];
  /** False for sound, errors, and answers of another interface. */
  readonly isReply: boolean;
}

const texts = (values: readonly unknown[]): string =>
  values.map((value) => (typeof value === "string" ? value : "")).join("");
const list = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];

/** What must go back of the messages or deltas of a reply: ids, reasoning by its name, encrypted reasoning, signatures. */
function backOf(messages: readonly unknown[]): Case["back"] {
  const all = (field: string): readonly unknown[] => messages.flatMap((message) => list(at(message, field)));
  const ids = all("tool_calls").map((call) => at(call, "id"));
  const details = all("reasoning_details");
  const sealed = details.flatMap((detail) => [at(detail, "data"), at(detail, "signature")]);
  const named = ["reasoning_content", "reasoning", "thinking"].find((field) =>
    messages.some((message) => typeof at(message, field) === "string" && at(message, field) !== ""),
  );
  const field = details.length > 0 ? undefined : named;
  const thoughts = all("content").flatMap((part) => list(at(part, "thinking")));
  const values: (readonly [string, unknown])[] = [
    ...ids.map((id) => ["id", id] as const),
    ...sealed.map((value) => ["reasoning_details", value] as const),
    ["content", texts(thoughts.map((thought) => at(thought, "text")))],
    ...(field === undefined ? [] : [[field, texts(messages.map((message) => at(message, field)))] as const]),
  ];
  return values.flatMap(([name, value]) =>
    typeof value === "string" && value !== "" ? [[name, value]] : [],
  );
}

const firstChoice = (event: unknown): readonly unknown[] =>
  list(at(event, "choices")).filter((choice) => (at(choice, "index") ?? 0) === 0);

const wholes: readonly (readonly [string, Recording])[] = [
  ...recordedWholeChats.map((recording) => ["vercel-ai", recording] as const),
  ...["deepseek", "groq", "mistral", "openrouter", "xai", "z"].flatMap((name) =>
    recordingsIn(`prism/tests/Fixtures/${name}`, /\.json$/).map((recording) => [name, recording] as const),
  ),
];
const called = (said: Said): Said =>
  said.calls.length > 0 && said.finishReason === "stop" ? { ...said, finishReason: "tool-calls" } : said;

/** A chat completion that came whole, as the one chunk of a stream. */
function asChunk(event: unknown): object {
  const [choice] = firstChoice(event);
  const message = at(choice, "message");
  const calls = list(at(message, "tool_calls")).map((call, index) => ({ ...Object(call), index }));
  const delta = { ...Object(message), tool_calls: calls };
  return { ...Object(event), choices: [{ ...Object(choice), delta }] };
}

function chatOf(provider: string, recording: Recording): Case {
  const isStream = recording.events.some((event) => at(event, "choices", 0, "delta") !== undefined);
  const events = isStream ? recording.events : recording.events.map(asChunk);
  return {
    provider,
    recording,
    answer: isStream ? { sse: recording.sse } : { json: recording.events[0] },
    said: called(saidByOpenai({ ...recording, events })),
    back: backOf(events.flatMap(firstChoice).map((choice) => at(choice, "delta"))),
    isReply: recording.events.flatMap(firstChoice).length > 0 && !recording.events.some(isError),
  };
}

const isError = (event: unknown): boolean => at(event, "error") !== undefined;

const chats: readonly Case[] = [
  ...recordedChats.map(([name, recording]) =>
    chatOf(/^(?:packages|tests\/Fixtures)\/([\w-]+)/.exec(name)?.[1] ?? name, recording),
  ),
  ...wholes.map(([name, recording]) =>
    chatOf(name === "vercel-ai" ? (recording.name.split("-")[0] ?? name) : name, recording),
  ),
];

function saidByOllama({ events }: Recording): Said {
  const messages = events.map((event) => at(event, "message"));
  const calls = messages.flatMap((message) => list(at(message, "tool_calls")));
  const end = events.findLast((event) => at(event, "done") === true);
  const reason = at(end, "done_reason");
  const tokens = (field: string): number | undefined => at(end, field) as number | undefined;
  return {
    text: texts(messages.map((message) => at(message, "content"))),
    reasoning: texts(messages.map((message) => at(message, "thinking"))),
    calls: calls.map((call) => ({
      name: String(at(call, "function", "name")),
      arguments: at(call, "function", "arguments"),
    })),
    inputTokens: tokens("prompt_eval_count"),
    outputTokens: tokens("eval_count"),
    finishReason:
      calls.length > 0 && reason !== "length" ? "tool-calls" : reason === "length" ? "length" : undefined,
    signatures: [],
  };
}

const local: readonly Case[] = [
  ...ollamas.recordings,
  ...recordingsIn("prism/tests/Fixtures/ollama", /\.json$/),
].map((recording) => ({
  provider: "ollama",
  recording,
  answer: { sse: recording.sse },
  said: saidByOllama(recording),
  back: backOf(recording.events.map((event) => at(event, "message"))),
  isReply: recording.events.some((event) => at(event, "message") !== undefined),
}));

async function asked(model: Model, messages: readonly Message[]): Promise<Reply> {
  const assembler = assemble("test", ({ id, name, index }) => ({
    id: /^[\w-]{1,64}$/.test(id) ? id : `call_${index}`,
    name,
  }));
  const request = { messages, tools: [], toolChoice: "auto", settings: {} } as const;
  for await (const delta of model.stream(request, { signal: new AbortController().signal }))
    assembler.push(delta);
  return assembler.reply();
}

/** Plays a recording, asks once more, and holds both the reply and the next request against the recording. */
async function hold(model: Model, { answer, said, back }: Case, last: Answer): Promise<void> {
  server.play(answer, last);
  const reply = await asked(model, [userMessage("x")]);
  expectSame(reply, said);
  const results = callsOf(reply.message).map(({ id, name }): Message => ({
    role: "tool",
    callId: id,
    name,
    status: "ok",
    text: "done",
  }));
  await asked(model, [userMessage("x"), reply.message, ...results, userMessage("y")]);
  const sent = server.requests.at(-1)?.body["messages"];
  const written = list(sent).find((message) => at(message, "role") === "assistant");
  for (const [field, value] of back) {
    const place = field === "id" ? at(written, "tool_calls") : at(written, field);
    expect(JSON.stringify(place), field).toContain(JSON.stringify(value));
  }
}

const done: Answer = { sse: sse([openaiChunk({ content: "done" }), openaiChunk({}, "stop")], true) };
const doneLine: Answer = {
  sse: `${JSON.stringify({ message: { content: "done" }, done: true, done_reason: "stop" })}\n`,
};

describe.each([
  [
    "openaiCompatible",
    { cases: chats, model: (): Model => openaiCompatible("m", { baseUrl: server.url }), last: done },
  ],
  ["ollama", { cases: local, model: (): Model => ollama("m", { host: server.url }), last: doneLine }],
] as const)("recorded replies through %s", (name, { cases, model, last }) => {
  it.skipIf(cases.length === 0)("are what their recordings say, and go back as they came", async () => {
    const wrong: string[] = [];
    for (const each of cases) {
      const row = rows.get(each.provider) ?? {
        provider: each.provider,
        right: 0,
        wrong: 0,
        notApplicable: 0,
      };
      rows.set(each.provider, row);
      if (!each.isReply) row.notApplicable += 1;
      else
        await hold(model(), each, last).then(
          () => (row.right += 1),
          (error: unknown) => {
            row.wrong += 1;
            wrong.push(`${name} ${each.provider} ${each.recording.name}: ${String(error)}`);
          },
        );
    }
    expect(wrong).toEqual([]);
  });
});
