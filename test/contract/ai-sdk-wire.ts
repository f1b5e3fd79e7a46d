import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAnthropic as createAnthropicV2 } from "ai-sdk-anthropic-v2";
import { createAnthropic as createAnthropicV3 } from "ai-sdk-anthropic-v3";
import { createOpenAICompatible as createOpenAICompatibleV2 } from "ai-sdk-openai-compatible-v2";
import { createOpenAICompatible as createOpenAICompatibleV3 } from "ai-sdk-openai-compatible-v3";
import type { AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";

/** What the server plays for one request: a status with a body, or events of a stream and how that ends. */
export interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly sse?: string;
  /** `hang` leaves the answer open, `cut` breaks the connection. Default: `end`. */
  readonly after?: "end" | "hang" | "cut";
}

export interface RecordedRequest {
  readonly path: string;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** A provider on the loopback interface that plays what it is given, one answer a request, the last one again and again. */
export interface PlayedServer {
  readonly url: string;
  readonly requests: RecordedRequest[];
  play(...answers: readonly Answer[]): void;
  /** Settles when a client has gone away before its answer was whole. */
  dropped(this: void): Promise<void>;
  close(this: void): Promise<void>;
}

export async function playedServer(): Promise<PlayedServer> {
  const requests: RecordedRequest[] = [];
  let answers: readonly Answer[] = [];
  let next = 0;
  const dropped = Promise.withResolvers<void>();
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const body = JSON.parse(text) as Record<string, unknown>;
    requests.push({ path: request.url ?? "", text, body });
    response.on("close", () => response.writableFinished || dropped.resolve());
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    write(response, answer ?? { status: 500, json: { error: { message: "nothing to play" } } });
  }

  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    dropped: () => dropped.promise,
    play(...given) {
      answers = given;
      next = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += String(chunk);
  return text;
}

function write(response: ServerResponse, { status = 200, json, sse, after = "end" }: Answer): void {
  if (sse === undefined) {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(json));
    return;
  }
  response.writeHead(status, { "content-type": "text/event-stream" });
  response.flushHeaders();
  response.write(sse, () => after === "cut" && response.socket?.resetAndDestroy());
  if (after === "end") response.end();
}

/** Events as SSE. */
export function sse(events: readonly object[], done = false): string {
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return [...lines, ...(done ? ["data: [DONE]\n\n"] : [])].join("");
}

export type SpecVersion = "v2" | "v3" | "v4";
export const specVersions: readonly SpecVersion[] = ["v2", "v3", "v4"];

/** A chat model of the real `@ai-sdk/openai-compatible` of that specification, which asks the played server. */
export function openaiCompatible(version: SpecVersion, url: string, modelId = "test-model"): AiSdkModel {
  const settings = { name: "played", baseURL: `${url}/v1`, includeUsage: true };
  if (version === "v2") return createOpenAICompatibleV2(settings)(modelId);
  return version === "v3"
    ? createOpenAICompatibleV3(settings)(modelId)
    : createOpenAICompatible(settings)(modelId);
}

/** A model of the real `@ai-sdk/anthropic` of that specification, which asks the played server. */
export function anthropic(version: SpecVersion, url: string, modelId = "claude-sonnet-4-5"): AiSdkModel {
  const settings = { baseURL: `${url}/v1`, apiKey: "played" };
  if (version === "v2") return createAnthropicV2(settings)(modelId);
  return version === "v3" ? createAnthropicV3(settings)(modelId) : createAnthropic(settings)(modelId);
}
