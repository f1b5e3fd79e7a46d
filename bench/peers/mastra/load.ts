/** Mastra's server for `npm run load`: an agent behind its hono adapter, whose model writes what it is given. */
import { Agent, type AgentConfig } from "@mastra/core/agent";
import { Mastra } from "@mastra/core";
import { type HonoBindings, type HonoVariables, MastraServer } from "@mastra/hono";
import { Hono } from "hono";

async function* partsOf(texts: AsyncIterable<string>): AsyncGenerator<object> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "1" };
  for await (const delta of texts) yield { type: "text-delta", id: "1", delta };
  yield { type: "text-end", id: "1" };
  yield { type: "finish", finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
}

/** A handler that takes any POST for a request to the agent's stream. */
export async function serverOf(
  write: () => AsyncIterable<string>,
): Promise<(request: Request) => Promise<Response>> {
  const model = {
    specificationVersion: "v2",
    provider: "clock",
    modelId: "clock",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("it streams")),
    doStream: async () => ({ stream: ReadableStream.from(partsOf(write())) }),
  } as unknown as AgentConfig["model"];
  const clock = new Agent({ id: "clock", name: "clock", instructions: "", model });
  const app = new Hono<{ Bindings: HonoBindings; Variables: HonoVariables }>();
  await new MastraServer({ app, mastra: new Mastra({ agents: { clock }, logger: false }) }).init();
  const body = JSON.stringify({ messages: [{ role: "user", content: "Go" }] });
  const headers = { "content-type": "application/json" };
  return async () => app.request("/api/agents/clock/stream", { method: "POST", headers, body });
}
