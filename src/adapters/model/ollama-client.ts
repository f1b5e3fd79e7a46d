import type { Ollama } from "ollama/browser";
import { WritError } from "../../error/writ-error.ts";
import { isJsonObject, parseJson } from "../../util/json.ts";
import { retryAfterMs } from "./retry-after.ts";

/** Where an Ollama server is, and what every request to it carries. */
export interface OllamaAddress {
  /** With scheme and port, without credentials and without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const defaultPort = 11_434;

/**
 * Reads an address as Ollama's own tools do: the scheme may be missing, and without one the port too. What a server listens on everywhere
 * (`0.0.0.0`) is no address to reach it at: it becomes this machine's. A name and password become a header, `fetch` takes them nowhere else.
 *
 * @throws WritError `option-invalid`
 */
export function ollamaAddress(host: string, port?: number): OllamaAddress {
  const given = host.trim();
  const explicit = given.includes("://");
  const text = explicit ? given : `http://${given.startsWith(":") ? "localhost" : ""}${given || "localhost"}`;
  if (!URL.canParse(text) || !/^https?:/i.test(text))
    throw invalid("host", host, "Give it like http://localhost:11434.");
  const url = new URL(text);
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    throw invalid("port", port, "Give a number from 1 to 65535.");
  if (port !== undefined) url.port = String(port);
  else if (!explicit && !/:\d+(?:\/|$)/.test(text.slice("http://".length))) url.port = String(defaultPort);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  const { username, password } = url;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
    "base64",
  );
  return {
    url: `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, ""),
    headers: username === "" ? {} : { authorization: `Basic ${credentials}` },
  };
}

function invalid(option: string, value: string | number, advice: string): WritError {
  return new WritError("option-invalid", { option: `ollama ${option}`, value, advice });
}

/** How one request is carried out. */
export interface Connection {
  readonly address: OllamaAddress;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** A reply larger than this is broken off. */
  readonly maxReplyBytes: number;
  /** Whether the reply is one JSON value a line, as it comes, or one value alone. */
  readonly lines: boolean;
}

/**
 * Makes the official client for one request. Its `abort()` would end all requests of a client, and some it cannot end at all: here the
 * signal ends the request itself. What it does with replies that are not as they should be (it prints them and goes on) is kept from it.
 *
 * @throws WritError `peer-missing`
 */
export async function openClient(connection: Connection, load: LoadClient = loadClient): Promise<Ollama> {
  const { Ollama } = await importClient(load);
  const { address } = connection;
  return new Ollama({ host: address.url, headers: { ...address.headers }, fetch: checkedFetch(connection) });
}

/** Imports the package. */
export type LoadClient = () => Promise<{ readonly Ollama: typeof Ollama }>;

/** The build for browsers is the same client, except that it never reads an image from the disk when its data looks like a path. */
const loadClient: LoadClient = () => import("ollama/browser");

async function importClient(load: LoadClient): ReturnType<LoadClient> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    const data = { package: "ollama", purpose: "models on an Ollama server", command: "npm i ollama" };
    throw new WritError("peer-missing", data, { cause: error });
  }
}

/** An answer with a status that says failure, with what its body said. */
export class RefusedRequest extends Error {
  override readonly name: string = "RefusedRequest";
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor({ status, headers }: Pick<Response, "status" | "headers">, reason: string) {
    super(reason);
    this.status = status;
    this.retryAfterMs = retryAfterMs((name) => headers.get(name));
  }
}

/** An answer that is not a reply: not JSON, too large, or something else than a chat. */
export class UnreadableReply extends Error {
  override readonly name: string = "UnreadableReply";
  /** Whether the next answer may be another. */
  readonly retryable: boolean;

  constructor(reason: string, { retryable = true }: { readonly retryable?: boolean } = {}) {
    super(reason);
    this.retryable = retryable;
  }
}

const maxErrorBytes = 65_536;

function checkedFetch({ fetch, signal, maxReplyBytes, lines }: Connection): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, signal });
    if (!response.ok) {
      const body =
        response.body === null
          ? ""
          : await new Response(response.body.pipeThrough(bounded(maxErrorBytes))).text();
      throw new RefusedRequest(response, errorText(body) || response.statusText || "no reason given");
    }
    if (response.body === null) throw new UnreadableReply("the answer has no body");
    return new Response(
      response.body.pipeThrough(bounded(maxReplyBytes)).pipeThrough(checkedJson(lines)),
      response,
    );
  };
}

/** What an error body says: `{"error": text}`, `{"error": {"message": text}}`, or the body itself. */
function errorText(body: string): string {
  const parsed = parseJson(body);
  if (!parsed.ok || !isJsonObject(parsed.value)) return excerpt(body.trim());
  return errorOf(parsed.value["error"] ?? parsed.value["message"]) ?? excerpt(body);
}

/** The words of an `error` field, whatever its form; undefined when there are none. */
export function errorOf(error: unknown): string | undefined {
  if (typeof error === "string" && error !== "") return error;
  if (!isJsonObject(error)) return undefined;
  return typeof error["message"] === "string" ? error["message"] : excerpt(JSON.stringify(error));
}

function excerpt(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function bounded(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes)
        throw new UnreadableReply(`the answer is larger than ${maxBytes} bytes`, { retryable: false });
      controller.enqueue(chunk);
    },
  });
}

/** Passes on whole JSON objects, one a line; blank lines are left out. */
function checkedJson(lines: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  function pass(text: string, controller: TransformStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    if (text.trim() !== "") controller.enqueue(encoder.encode(`${exactJson(text)}\n`));
  }
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      const end = lines ? text.lastIndexOf("\n") : -1;
      if (end === -1) {
        rest += text;
        return;
      }
      const whole = rest + text.slice(0, end);
      rest = text.slice(end + 1);
      for (const line of whole.split("\n")) pass(line, controller);
    },
    flush(controller) {
      pass(rest + decoder.decode(), controller);
    },
  });
}

/** The client would round integers that a double cannot hold, like ids in arguments: they become strings of their digits before. */
function exactJson(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isJsonObject(value))
    throw new UnreadableReply(`a part of the answer is not a JSON object: ${excerpt(text.trim())}`);
  if (!/\d{16}/.test(text)) return text.trim();
  const exact = parseJson(text);
  return exact.ok ? JSON.stringify(exact.value) : text.trim();
}
