import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import type { Json, JsonObject } from "../../util/json.ts";
import type {
  FakeAnswer,
  FakeFault,
  FakeOptions,
  FakeProvider,
  FakeReply,
  FakeRequest,
  FakeStep,
} from "./fake-provider.ts";
import { checkAnswer } from "./check-script.ts";
import { kindOf } from "./fields.ts";
import { type Provider, type ProviderError, type Wire, type WireBody, wireReply } from "./wire.ts";
import { waitMs } from "../wait-ms.ts";

/** Starts a provider that follows a script. */
export async function playProvider(
  provider: Provider,
  steps: readonly FakeStep[],
  options: FakeOptions = {},
): Promise<FakeProvider> {
  const script = new Script(provider, steps, options.whenDone ?? "repeat");
  const handler = (request: Request): Promise<Response> => script.answer(request);
  const { url, close } = await serve(handler);
  return {
    url,
    fetch: (input, init) => handler(new Request(input, init)),
    requests: script.requests,
    remaining: () => script.remaining(),
    assertComplete: () => script.assertComplete(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A script, with its current step. */
class Script {
  readonly requests: FakeRequest[] = [];
  readonly #provider: Provider;
  readonly #steps: readonly FakeStep[];
  readonly #whenDone: FakeOptions["whenDone"];
  #asked = 0;

  constructor(provider: Provider, steps: readonly FakeStep[], whenDone: FakeOptions["whenDone"]) {
    this.#provider = provider;
    this.#steps = steps;
    this.#whenDone = whenDone;
  }

  remaining(): number {
    return Math.max(0, this.#steps.length - this.#asked);
  }

  assertComplete(): void {
    const refused = this.requests.find(({ method, refusal }) => method !== "GET" && refusal !== undefined); // clients look models up, of which a fake has no list
    if (refused !== undefined) throw new Error(`${refused.path} was refused: ${refused.refusal}`);
    const left = this.remaining();
    if (left > 0) throw new Error(`${left} of ${this.#steps.length} steps of the script were not asked for`);
  }

  async answer(incoming: Request): Promise<Response> {
    const { signal } = incoming;
    const { wire, request, error } = await this.#read(incoming);
    this.requests.push(error === undefined ? request : { ...request, refusal: error.message ?? "" });
    if (error !== undefined || wire === undefined) return this.#fail(error ?? { status: 404 });
    this.#asked += 1;
    const number = this.#asked;
    const step = this.#steps[Math.min(number, this.#steps.length) - 1] ?? "ok";
    const answer = inFull(typeof step === "function" ? await answerOf(step, request, number) : step);
    const { delayMs = 0 } = answer;
    if (delayMs > 0) await sleep(waitMs(delayMs), undefined, { signal });
    if ("status" in answer) return this.#fail(answer);
    const body = wire.reply(wireReply(this.#provider, answer, { request, number }), request);
    return new Response(streamOf(body, answer.cutAfter), { headers: { "content-type": body.contentType } });
  }

  /** The request, its wire format, and the refusal if there is one. */
  async #read(incoming: Request): Promise<{
    readonly wire?: Wire;
    readonly request: FakeRequest;
    readonly error?: ProviderError;
  }> {
    const { pathname, search } = new URL(incoming.url);
    const { method } = incoming;
    const body = jsonOf(await incoming.text());
    const headers = Object.fromEntries(incoming.headers);
    const request = { method, path: pathname + search, headers, body: isObject(body) ? body : {} };
    const wire = this.#provider.wires.find(({ path }) => method === "POST" && path.test(pathname));
    if (wire === undefined)
      return { request, error: { status: 404, message: `Invalid URL (${method} ${pathname})` } };
    if (!isObject(body)) return { request, error: { status: 400, message: notJson } };
    const error = wire.refuse(request) ?? this.#doneError();
    return { wire, request, ...(error === undefined ? {} : { error }) };
  }

  #doneError(): ProviderError | undefined {
    if (this.#whenDone === "repeat" || this.#asked < this.#steps.length) return undefined;
    return { status: 400, message: `the script has ${this.#steps.length} steps and was asked once more` };
  }

  #fail(fault: FakeFault | ProviderError): Response {
    const { status, retryAfter } = fault;
    const html = "html" in fault ? fault.html : undefined;
    const type = html === undefined ? "application/json" : "text/html; charset=utf-8";
    const headers = new Headers({ "content-type": type });
    if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
    return new Response(html ?? JSON.stringify(this.#provider.error(fault)), { status, headers });
  }
}

const notJson = "We could not parse the JSON body of your request. It must be a JSON object.";

function jsonOf(text: string): Json | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it parses to nothing else
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return kindOf(value) === "object";
}

/** Calls a function of a script. An error that it throws is its answer. */
async function answerOf(
  step: Extract<FakeStep, (...args: never[]) => unknown>,
  request: FakeRequest,
  number: number,
): Promise<FakeAnswer> {
  try {
    const answer = await step(request);
    checkAnswer(answer, number);
    return answer;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function inFull(answer: FakeAnswer): FakeFault | FakeReply {
  if (answer instanceof Error) return { status: 500, message: answer.message };
  return typeof answer === "string" ? { text: answer } : answer;
}

/** The milliseconds that a client has to read before the connection breaks, because a break drops unread bytes. */
const beforeBreakMs = 20;

/** The error that `fetch` has as its cause if the other side closed its connection. */
function brokenOff(): Error {
  return Object.assign(new Error("the connection was broken off"), { code: "UND_ERR_SOCKET" });
}

/** The chunks, one at a time; the stream breaks after `cutAfter` of them, or in the middle of a single chunk. */
function streamOf({ chunks }: WireBody, cutAfter?: number): ReadableStream<Uint8Array> {
  const [only = "", second] = chunks;
  const sent = second === undefined ? [only.slice(0, only.length / 2)] : chunks.slice(0, cutAfter);
  return ReadableStream.from(
    (async function* () {
      const encoder = new TextEncoder();
      for (const chunk of cutAfter === undefined ? chunks : sent) {
        yield encoder.encode(chunk);
        await turn(); // so that chunks leave, and mostly arrive, one by one
      }
      if (cutAfter === undefined) return;
      await sleep(beforeBreakMs);
      throw new TypeError("terminated", { cause: brokenOff() });
    })(),
  );
}

/** Answers a request. */
type Handler = (request: Request) => Promise<Response>;

/** A server at a free port of the loopback interface. It does not keep the process alive. */
async function serve(
  handler: Handler,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    void pass(handler, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  server.unref();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at a port
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Passes a request on, and writes its answer chunk by chunk; an answer that breaks off breaks the connection. */
async function pass(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const response = await handler(await toRequest(incoming, gone.signal));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  for await (const chunk of response.body ?? [])
    await new Promise<void>((resolve, reject) => {
      outgoing.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  outgoing.end();
}

async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = "GET", url = "/" } = incoming;
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const body = await buffer(incoming);
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(url, "http://127.0.0.1"), {
    method,
    headers,
    signal,
    ...(hasBody ? { body } : {}),
  });
}
