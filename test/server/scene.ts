import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import { expect, onTestFinished } from "vitest";
import { agent, type AgentEvent, type Model, tool } from "../../src/index.ts";
import type { WaitingQuestion } from "../../src/durable.ts";
import { hashToken, serve, type Server, type ServeOptions } from "../../src/server.ts";
import { sqliteRuns } from "../../src/sqlite.ts";

/** Two callers: one may use all agents, the other the talker alone. */
export const principals = [
  { name: "web", tokens: [hashToken("old-token"), hashToken("web-token")] },
  { name: "shop", tokens: [hashToken("shop-token")], agents: ["talker"] },
];
export const web = { authorization: "Bearer web-token" };
export const shop = { authorization: "Bearer shop-token" };

/** A model that says its words one by one; `gate` is waited for before the second. */
export function wordByWord(words: readonly string[], gate: Promise<unknown> = Promise.resolve()): Model {
  return {
    id: "words",
    features: { tools: true },
    async *stream() {
      for (const [index, text] of words.entries()) {
        if (index === 1) await gate;
        yield { type: "text-delta", text };
      }
      yield { type: "end", finishReason: "stop", usage: { inputTokens: 3, outputTokens: words.length } };
    },
  };
}

export const talker = (gate?: Promise<unknown>) =>
  agent({ name: "talker", model: wordByWord(["Hello ", "there", "!"], gate) });

/** One who pays after a question. Only the conversation decides what it says. */
export const payer = (paid: unknown[] = [], name = "payer") =>
  agent({
    name,
    model: ({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? "Paid."
        : { calls: [{ name: "pay", arguments: { to: "Ada" } }] },
    tools: [
      tool({
        name: "pay",
        description: "Pays",
        inputSchema: { type: "object", properties: { to: { type: "string" } } },
        execute: (args) => {
          paid.push(args);
          return "paid";
        },
      }),
    ],
    policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
  });

/** The file of the runs of one test. */
export function runsFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "runs.db");
}

/** A server as a process of its own has it. */
export function serving(file: string, options: Partial<ServeOptions> = {}): Server {
  const store = sqliteRuns(file);
  const server = serve({ store, principals, ...options });
  onTestFinished(async () => {
    await server.drain({ graceMs: 0 });
    store.close();
  });
  return server;
}

/** A request: its body of JSON, its headers (those of `web` where none are given). */
export interface AskOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks a server: `GET /runs`. */
export function ask(
  { fetch }: Pick<Server, "fetch">,
  what: string,
  { body, headers = web }: AskOptions = {},
): Promise<Response> {
  const [method, path] = what.split(" ");
  const sent =
    body === undefined
      ? {}
      : { body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) };
  return fetch(new Request(`http://localhost${path}`, { method: method ?? "", headers, ...sent }));
}

/** The fields that tests read of answers. */
export interface Told {
  readonly status: number | string;
  readonly code?: string;
  readonly id?: string;
  readonly agent?: string;
  readonly end?: object;
  readonly questions: readonly WaitingQuestion[];
  readonly runs: readonly object[];
  readonly agents: readonly object[];
  readonly messages?: UIMessage[];
}

/** The JSON of an answer and its status; that of a run is in its `status` where it is asked for alone. */
export async function told(response: Response | Promise<Response>): Promise<Told> {
  const { status, body } = { status: (await response).status, body: await (await response).text() };
  return { ...(body === "" ? {} : JSON.parse(body)), status };
}

/** The questions that a server has. */
export async function questionsOf(
  server: Pick<Server, "fetch">,
  path = "/questions",
): Promise<Told["questions"]> {
  return (await told(ask(server, `GET ${path}`))).questions;
}

/** The events of a stream, as a browser reads them. */
export async function* events(response: Response): AsyncGenerator<AgentEvent & { readonly id?: string }> {
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const messages = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>())
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { id, data } of messages)
    yield { ...JSON.parse(data), ...(id === undefined ? {} : { id }) };
}

/** Waits until something holds. */
export async function until<Value>(look: () => Promise<Value | undefined | false>): Promise<Value> {
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The chunks of an answer to a page of the AI SDK, each held to its schema. */
export function uiChunks(response: Response): ReadableStream<UIMessageChunk> {
  return (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>())
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(
      new TransformStream<{ readonly data: string }, UIMessageChunk>({
        async transform({ data }, controller) {
          if (data === "[DONE]") return;
          const read = await uiMessageChunkSchema().validate?.(JSON.parse(data));
          if (read?.success !== true) throw new Error(`no chunk: ${data}`);
          controller.enqueue(read.value);
        },
      }),
    );
}
