/** The model of all cases: a server on the loopback interface that speaks OpenAI's chat completions, and replies what the case wrote for it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { faultOf, type Message } from "./transcript.ts";

/** A call as a model writes it: `arguments` is text, and JSON if all is well. */
export interface Call {
  readonly name: string;
  readonly arguments: string;
  /** `null`: the call has no id. */
  readonly id?: string | null;
}

/** The server's answer to one request. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly Call[];
  readonly finish?: string;
  /** Any status but 200 is an error; with `html` the body is a page. */
  readonly status?: number;
  readonly html?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The server never answers. */
  readonly hangs?: true;
  /** The reply stops after so many pieces: the connection breaks, or ends as if the reply was complete. */
  readonly cut?: { readonly after: number; readonly how: "broken" | "ended" };
  /** Milliseconds between two pieces of a stream. */
  readonly pauseMs?: number;
  /** Returns what the stream must wait for before its next piece, given the number of pieces written. */
  readonly before?: (written: number) => Promise<unknown> | undefined;
  /** The arguments of several calls alternate, piece by piece. */
  readonly interleaved?: true;
  /** The bytes of the stream come in portions of seven, which may cut a character or a line. */
  readonly crumbs?: true;
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** A request that the server received. */
export interface Request {
  readonly messages: readonly Message[];
  readonly tools: readonly {
    readonly function: {
      readonly name: string;
      readonly description?: string;
      readonly parameters?: unknown;
    };
  }[];
  readonly toolChoice: unknown;
  readonly stream: boolean;
  /** The client went away before it had the whole reply. */
  left: boolean;
  /** The number of pieces written so far. */
  written: number;
}

export type Script = (request: Request, index: number) => Reply;

/** The replies and the requests of one case. */
export interface Dialogue {
  script: Script;
  readonly requests: Request[];
  /** The faults of the requests that the server answered with 400, as a provider would. */
  readonly refused: string[];
}

type Delta = Readonly<Record<string, unknown>>;

let made = 0;

/** The head of a reply; each has an id of its own, since some runtimes tell messages apart by it. */
function headOf() {
  made += 1;
  return { id: `chatcmpl-${made}`, created: 1_700_000_000, model: "mock" };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

function idOf({ id }: Call, index: number, turn: number): { id?: string } {
  return id === null ? {} : { id: id ?? `call_${turn}_${index}` };
}

function inHalves(text: string): string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)];
}

/** The pieces of a reply that is streamed: words of the text, then each call in three pieces. */
function deltasOf({ text = "", calls = [], interleaved }: Reply, turn: number): Delta[] {
  const words = text === "" ? [] : text.split(/(?<= )/).map((content): Delta => ({ content }));
  const begun = calls.map((call, index): Delta => {
    const made = {
      ...idOf(call, index, turn),
      type: "function",
      function: { name: call.name, arguments: "" },
    };
    return { tool_calls: [{ index, ...made }] };
  });
  const rest = calls.map(({ arguments: args }, index) =>
    inHalves(args).map((piece): Delta => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  );
  if (interleaved)
    return [...words, ...begun, ...[0, 1].flatMap((half) => rest.map((pieces) => pieces[half] ?? {}))];
  return [...words, ...begun.flatMap((first, index) => [first, ...(rest[index] ?? [])])];
}

const finishOf = ({ finish, calls = [] }: Reply): string =>
  finish ?? (calls.length > 0 ? "tool_calls" : "stop");

function usageOf({ usage = { prompt_tokens: 50, completion_tokens: 10 } }: Reply) {
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
}

function wholeOf(reply: Reply, turn: number): string {
  const { text = null, calls = [] } = reply;
  const tool_calls = calls.map((call, index) => {
    const { name, arguments: args } = call;
    return { ...idOf(call, index, turn), type: "function", function: { name, arguments: args } };
  });
  const message = { role: "assistant", content: text, ...(calls.length > 0 ? { tool_calls } : {}) };
  const choices = [{ index: 0, message, finish_reason: finishOf(reply) }];
  return JSON.stringify({ ...headOf(), object: "chat.completion", choices, usage: usageOf(reply) });
}

async function write(response: ServerResponse, text: string, crumbs = false): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += crumbs ? 7 : bytes.length) {
    response.write(bytes.subarray(at, crumbs ? at + 7 : bytes.length));
    if (crumbs) await new Promise((resolve) => void setImmediate(resolve));
  }
}

async function stream(reply: Reply, request: Request, response: ServerResponse): Promise<void> {
  const { cut, pauseMs, before, crumbs } = reply;
  const head = headOf();
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (choices: readonly unknown[], more = {}): Promise<void> =>
    write(
      response,
      `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, ...more })}\n\n`,
      crumbs,
    );
  await chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]);
  for (const delta of deltasOf(reply, turnOf(request))) {
    await before?.(request.written);
    if (request.left) return;
    if (cut !== undefined && request.written >= cut.after) {
      await pause(30); // the pieces before arrive first
      if (cut.how === "broken") response.destroy();
      else response.end();
      return;
    }
    await chunk([{ index: 0, delta, finish_reason: null }]);
    request.written += 1;
    if (pauseMs !== undefined) await pause(pauseMs);
  }
  await chunk([{ index: 0, delta: {}, finish_reason: finishOf(reply) }]);
  await chunk([], { usage: usageOf(reply) });
  response.end("data: [DONE]\n\n");
}

/** How many replies of the model the request has: so ids differ from turn to turn. */
const turnOf = ({ messages }: Request): number => messages.filter(({ role }) => role === "assistant").length;

async function answer(dialogue: Dialogue, request: Request, response: ServerResponse): Promise<void> {
  const json = (status: number, body: string, headers = {}): void =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  const fault = faultOf(request.messages);
  if (fault !== undefined) {
    dialogue.refused.push(fault);
    json(
      400,
      JSON.stringify({
        error: { message: fault, type: "invalid_request_error", param: "messages", code: null },
      }),
    );
    return;
  }
  const reply = dialogue.script(request, dialogue.requests.length - 1);
  const { status = 200, headers = {} } = reply;
  if (reply.hangs) return;
  if (reply.html)
    response.writeHead(status, { "content-type": "text/html" }).end("<!doctype html><h1>Sign in</h1>");
  else if (status !== 200) {
    const error = { message: `status ${status}`, type: "server_error", code: null };
    json(status, JSON.stringify({ error }), headers);
  } else if (request.stream) await stream(reply, request, response);
  else {
    if (reply.pauseMs !== undefined) await pause(reply.pauseMs);
    const whole = wholeOf(reply, turnOf(request));
    if (reply.cut === undefined) json(200, whole);
    else {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(whole),
      });
      response.write(whole.slice(0, -40));
      await pause(30);
      response.destroy();
    }
  }
}

/** The server, which knows the dialogue of a case by the first part of the path. */
export class Provider {
  readonly #dialogues = new Map<string, Dialogue>();
  readonly #server: Server = createServer((request, response) => void this.#respond(request, response));

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
  }

  /** Opens a dialogue and returns its address. */
  open(name: string, dialogue: Dialogue): string {
    this.#dialogues.set(name, dialogue);
    return `http://127.0.0.1:${(this.#server.address() as { readonly port: number }).port}/${name}/v1`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, name = "", ...rest] = (incoming.url ?? "").split("/");
    const dialogue = this.#dialogues.get(name);
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += String(piece);
    if (dialogue === undefined || rest.join("/") !== "v1/chat/completions") {
      response.writeHead(404).end();
      return;
    }
    const {
      messages = [],
      tools = [],
      tool_choice: toolChoice,
      stream,
    } = JSON.parse(body) as Record<string, never>;
    const request: Request = {
      messages,
      tools,
      toolChoice,
      stream: stream === true,
      left: false,
      written: 0,
    };
    dialogue.requests.push(request);
    response.on("close", () => void (request.left ||= !response.writableEnded));
    await answer(dialogue, request, response);
  }
}
