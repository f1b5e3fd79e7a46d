import { agent } from "../../src/index.ts";
import type { WritError } from "../../src/error/writ-error.ts";
import type { Model } from "../../src/model/model.ts";
import { fakeTool } from "../../src/testing.ts";
import { answersOf, at, type Recording, recordingsIn } from "../contract/ai-sdk-recordings.ts";
import type { PlayedServer } from "../contract/played-server.ts";
import { recordedChats } from "../contract/recorded-chats.ts";

const packages = "vercel-ai/packages";
const prism = "prism/tests/Fixtures";

/** Recordings of one kind of server, and the event in which it says that the reply has ended. */
export interface Kind {
  readonly recordings: readonly Recording[];
  readonly ends: (event: unknown) => boolean;
}

/** The recorded chats whose names begin so: `vercel-ai/packages/groq`; all of them without a beginning. */
export function chatsOf(...beginnings: readonly string[]): Kind {
  return {
    recordings: recordedChats
      .filter(([name]) => beginnings.length === 0 || beginnings.some((start) => name.includes(start)))
      .map(([, recording]) => recording),
    ends: (event) => typeof at(event, "choices", 0, "finish_reason") === "string",
  };
}

function responsesIn(recordings: readonly Recording[]): Kind {
  return {
    recordings: recordings.flatMap((recording) => answersOf(recording, "response.completed")),
    ends: (event) => /^(?:error|response\.(?:completed|incomplete|failed))$/.test(String(at(event, "type"))),
  };
}

/** Anthropic's messages. */
export const messages: Kind = {
  recordings: [
    ...recordingsIn(`${packages}/anthropic/src/__fixtures__`, /\.chunks\.txt$/),
    ...recordingsIn(`${prism}/anthropic`, /\.sse$/),
  ].flatMap((recording) => answersOf(recording, "message_stop")),
  ends: (event) => at(event, "type") === "message_delta",
};

/** OpenAI's responses, those of Azure among them. */
export const responses: Kind = responsesIn([
  ...recordingsIn(`${packages}/openai/src/responses/__fixtures__`, /\.chunks\.txt$/),
  ...recordingsIn(`${packages}/azure/src/__fixtures__`, /\.chunks\.txt$/),
]);

/** The same of xAI. */
export const xaiResponses: Kind = responsesIn(
  recordingsIn(`${packages}/xai/src/responses/__fixtures__`, /\.chunks\.txt$/),
);

/** Gemini's streams. */
export const geminis: Kind = {
  recordings: recordingsIn(`${packages}/google/src/__fixtures__`, /\.chunks\.txt$/),
  ends: (event) => at(event, "candidates", 0, "finishReason") !== undefined,
};

/** Ollama's lines. */
export const ollamas: Kind = {
  recordings: recordingsIn(`${prism}/ollama`, /\.sse$/).map((recording) => ({
    ...recording,
    events: recording.sse
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  })),
  ends: (event) => at(event, "done") === true,
};

const mostBoundaries = 2;

/**
 * What had come of a reply at 30, 60 and 90 % of the way to its end, and after some of the events on the way, the last among them. Recordings
 * that are over with one event have no way.
 */
function cutsOf({ sse, events }: Recording, ends: Kind["ends"]): readonly string[] {
  const lines = sse.split("\n");
  const data = [...lines.keys()].filter((index) => /^(?:data:|\{)/.test(lines[index] ?? ""));
  const end = data[events.findIndex(ends)] ?? 0;
  const before = lines.slice(0, end).join("\n");
  if (before === "") return [];
  const boundaries = data.filter((line) => line > 0 && line <= end).toReversed();
  const every = Math.ceil(boundaries.length / mostBoundaries);
  return [
    ...[0.3, 0.6, 0.9].map((part) => before.slice(0, Math.floor(before.length * part))),
    ...boundaries
      .filter((_, index) => index % every === 0)
      .map((line) => `${lines.slice(0, line).join("\n")}\n`),
  ];
}

/** Names that stand in a recording, those of its calls among them. */
function namesIn({ sse }: Recording): readonly string[] {
  const names = [...sse.matchAll(/"name": ?"([a-zA-Z][\w-]{0,40})"/g)].map(([, name = ""]) => name);
  return [...new Set(names)];
}

/** What became of the cut streams of a kind: how many ended each way, in words, and how many calls ran. */
export interface CutCount {
  readonly recordings: number;
  readonly cuts: number;
  readonly ends: ReadonlyMap<string, number>;
  readonly ran: number;
}

/** Plays each recording of a kind, cut on its way, to an agent that has a tool for each name in it. */
export async function countCuts(kind: Kind, model: Model, server: PlayedServer): Promise<CutCount> {
  const ends = new Map<string, number>();
  let [cuts, ran] = [0, 0];
  for (const recording of kind.recordings)
    for (const cut of cutsOf(recording, kind.ends)) {
      server.play({ sse: cut });
      const tools = namesIn(recording).map((name) => fakeTool(name, "done"));
      const end = await agent({ name: "a", model, tools, retry: false })
        .run("x")
        .then(
          ({ outcome }) => `${outcome.type} (${recording.name})`,
          ({ code, retryable }: WritError) => `${code}, retryable: ${retryable}`,
        );
      ends.set(end, (ends.get(end) ?? 0) + 1);
      ran += tools.reduce((sum, { calls }) => sum + calls.length, 0);
      cuts += 1;
    }
  return { recordings: kind.recordings.length, cuts, ends, ran };
}
