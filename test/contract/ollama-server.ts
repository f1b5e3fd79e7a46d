import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import type { WireAnswer, WireFailure, WirePart, WireScript } from "./wire.ts";

/** A model as the server lists it. */
export interface InstalledModel {
  readonly name: string;
  readonly capabilities?: readonly string[];
}

/** What the server does with a request that is no chat, or with a chat in place of the script. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
) => void | Promise<void>;

/** A server on this machine that answers as Ollama does. */
export interface OllamaServer {
  readonly url: string;
  /** The bodies of the chat requests, parsed. */
  readonly bodies: unknown[];
  readonly headers: IncomingMessage["headers"][];
  /** Settles when a client went away before its answer was complete. */
  readonly dropped: Promise<void>;
  close(this: void): Promise<void>;
}

/** What the server has and does. */
export interface ServerOptions {
  readonly script?: WireScript;
  /** Takes chats in place of the script. */
  readonly chat?: Handler;
  readonly installed?: readonly InstalledModel[];
}

/** Starts a server at a free port. A script of `unreachable` gives the address of one that is gone. */
export async function startOllama({
  script = [],
  chat,
  installed = [],
}: ServerOptions): Promise<OllamaServer> {
  const bodies: unknown[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const dropped = Promise.withResolvers<void>();
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.url === "/api/version") return sendJson(response, 200, { version: "0.0.0" });
    if (request.url === "/api/tags")
      return sendJson(response, 200, { models: installed.map(({ name }) => listed(name)) });
    if (request.url === "/api/show") return show(response, body, installed);
    if (request.url !== "/api/chat") return void response.writeHead(404).end("404 page not found");
    const index = bodies.push(JSON.parse(body)) - 1;
    headers.push(request.headers);
    response.on("close", () => {
      if (!response.writableFinished) dropped.resolve();
    });
    if (chat !== undefined) return chat(request, response, body);
    const next = script[index];
    if (next === undefined) return sendJson(response, 500, { error: `no answer for request ${index}` });
    return play(next, response, (bodies[index] as { readonly stream?: unknown }).stream !== false);
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  if (script[0]?.type === "unreachable") await close();
  return { url: `http://127.0.0.1:${port}`, bodies, headers, dropped: dropped.promise, close };
}

/** Sends a JSON body whole. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
}

/** Sends a text as the lines of a stream, in pieces of a few bytes: lines and characters are torn apart. */
export async function sendTorn(response: ServerResponse, lines: string, pieceBytes = 23): Promise<void> {
  if (!response.headersSent) response.writeHead(200, { "content-type": "application/x-ndjson" });
  const bytes = Buffer.from(lines);
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    response.write(bytes.subarray(start, start + pieceBytes));
    await turn(); // so that the pieces leave, and mostly come, one by one
  }
}

function listed(name: string): object {
  return {
    name,
    model: name,
    size: 98_363_065,
    digest: "3f08",
    details: { family: "llama", parameter_size: "134.52M" },
  };
}

function show(response: ServerResponse, body: string, installed: readonly InstalledModel[]): void {
  const { model } = JSON.parse(body) as { readonly model: string };
  const found = installed.find(({ name }) => name === model);
  if (found === undefined) return sendJson(response, 404, { error: `model '${model}' not found` });
  return sendJson(response, 200, { details: {}, model_info: {}, capabilities: found.capabilities });
}

const failures: Readonly<Record<WireFailure, readonly [status: number, error: string]>> = {
  "model-not-found": [404, 'model "m" not found, try pulling it first'],
  "no-tools": [400, "registry.ollama.ai/library/m:latest does not support tools"],
  "refused-key": [401, "unauthorized"],
  "rate-limited": [429, "you have reached your hourly usage limit"],
  "too-long": [400, "the input length exceeds the context length"],
  overloaded: [503, "server busy, please try again.  maximum pending requests exceeded"],
  "server-error": [500, "llama runner process has terminated: exit status 2"],
  "bad-request": [400, 'invalid think value: "very"'],
};

async function play(answer: WireAnswer, response: ServerResponse, streamed: boolean): Promise<void> {
  if (answer.type === "failure") {
    const [status, error] = failures[answer.failure];
    return sendJson(response, status, { error });
  }
  if (answer.type === "unreachable") throw new Error("nobody can ask a server that is not there");
  if (!streamed) return playWhole(answer, response);
  await sendTorn(
    response,
    answer.parts
      .flatMap(messagesOf)
      .map((message) => lineOf({ message, done: false }))
      .join(""),
  );
  if (answer.type === "stall") return response.flushHeaders();
  if (answer.type === "cut") {
    await sleep(50);
    response.destroy();
    return;
  }
  const last =
    answer.type === "reply"
      ? lineOf({ message: messageOf(""), ...endOf(answer) })
      : `${JSON.stringify({ error: answer.message })}\n`;
  await sendTorn(response, last);
  response.end();
}

function playWhole(
  answer: Exclude<WireAnswer, { readonly type: "failure" | "unreachable" }>,
  response: ServerResponse,
): void {
  if (answer.type === "stall") return;
  if (answer.type === "cut")
    return void response
      .writeHead(200, { "content-type": "application/json" })
      .write('{"model":', () => response.destroy());
  if (answer.type === "mid-stream-error") return sendJson(response, 200, { error: answer.message });
  const messages = answer.parts.flatMap(messagesOf);
  const joined = (field: "content" | "thinking"): string =>
    messages.map((message) => message[field] ?? "").join("");
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  const thinking = joined("thinking");
  const message = {
    ...messageOf(joined("content")),
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return sendJson(response, 200, { model: "m", created_at: createdAt, message, ...endOf(answer) });
}

const createdAt = "2026-11-21T08:04:26.714520748Z";

function lineOf(fields: object): string {
  return `${JSON.stringify({ model: "m", created_at: createdAt, ...fields })}\n`;
}

interface WireMessage {
  readonly role: "assistant";
  readonly content: string;
  readonly thinking?: string;
  readonly tool_calls?: readonly object[];
}

function messageOf(content: string): WireMessage {
  return { role: "assistant", content };
}

function messagesOf(part: WirePart): readonly WireMessage[] {
  if (part.type === "text") return part.pieces.map(messageOf);
  if (part.type === "reasoning") return part.pieces.map((thinking) => ({ ...messageOf(""), thinking }));
  const sent = "value" in part.arguments ? part.arguments.value : part.arguments.text;
  const call = {
    ...(part.id === undefined ? {} : { id: part.id }),
    function: { name: part.name, arguments: sent },
  };
  return [{ ...messageOf(""), tool_calls: [call] }];
}

function endOf({ finishReason, usage }: Extract<WireAnswer, { readonly type: "reply" }>): object {
  return {
    done_reason: finishReason ?? "stop",
    done: true,
    total_duration: 400_510_650,
    ...(usage === undefined ? {} : { prompt_eval_count: usage.inputTokens, eval_count: usage.outputTokens }),
  };
}
