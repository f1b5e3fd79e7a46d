/**
 * A server for `npm run load`, as a process of its own: `writ`, `ai` with hono, or Mastra's own. Its model writes so many pieces, each the time at which it was written, with
 * a pause between them. Prints its port, and at each line of its standard input its memory in bytes and the
 * processor time that it took, in microseconds.
 */
import { serve as listen } from "@hono/node-server";
import { streamText } from "ai";
import type { LanguageModelV3, LanguageModelV3StreamPart } from "ai-sdk-provider-v3";
import { Hono } from "hono";
import { agent, type Model } from "../src/index.ts";
import { memoryRuns } from "../src/durable.ts";
import { serve } from "../src/server.ts";

const [kind = "writ", pieces = "20", everyMs = "250"] = process.argv.slice(2);
const now = (): string => `${performance.timeOrigin + performance.now()} `;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Number(everyMs)));

const model: Model = {
  id: "clock",
  features: { tools: true },
  async *stream() {
    for (let piece = 0; piece < Number(pieces); piece += 1) {
      await pause();
      yield { type: "text-delta", text: now() };
    }
    yield { type: "end", finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

async function* parts(): AsyncGenerator<LanguageModelV3StreamPart> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "1" };
  for (let piece = 0; piece < Number(pieces); piece += 1) {
    await pause();
    yield { type: "text-delta", id: "1", delta: now() };
  }
  yield { type: "text-end", id: "1" };
  const total = { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const usage = { inputTokens: total, outputTokens: { total: 1, text: undefined, reasoning: undefined } };
  yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };
}

const clock: LanguageModelV3 = {
  specificationVersion: "v3",
  provider: "clock",
  modelId: "clock",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("it streams")),
  doStream: async () => ({ stream: ReadableStream.from(parts()) }),
};

type Handler = (request: Request) => Promise<Response>;

function writServer(): Handler {
  const limits = { streams: 100_000, requestsAMinute: 10_000_000 };
  const clerk = agent({ name: "clock", model });
  return serve({ store: memoryRuns(), agents: [clerk], limits, work: { concurrency: 100_000 } }).fetch;
}

/** The peer's packages are in its folder alone, and so is what makes a server of them. */
async function mastraServer(): Promise<Handler> {
  const { serverOf } = (await import(new URL("peers/mastra/load.ts", import.meta.url).href)) as {
    readonly serverOf: (stream: () => AsyncGenerator<string>) => Promise<Handler>;
  };
  return serverOf(async function* pieceByPiece() {
    for (let piece = 0; piece < Number(pieces); piece += 1) {
      await pause();
      yield now();
    }
  });
}

function aiServer(): Handler {
  const app = new Hono();
  app.post("/runs", () => streamText({ model: clock, prompt: "Go" }).toUIMessageStreamResponse());
  return async (request) => app.fetch(request);
}

const servers: Readonly<Record<string, () => Handler | Promise<Handler>>> = {
  writ: writServer,
  ai: aiServer,
  mastra: mastraServer,
};
const fetch = await servers[kind]?.();
if (fetch === undefined) throw new Error(`there is no server of ${kind}`);
listen({ fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(port));
process.stdin.on("data", () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  console.log(process.memoryUsage().rss, user + system);
});
process.stdin.on("end", () => process.exit());
