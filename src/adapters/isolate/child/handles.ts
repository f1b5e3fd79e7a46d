import { readSync, writeSync } from "node:fs";
import { encodeFrame } from "./frames.ts";
import { instantFd, type ToCellAnswer } from "./messages.ts";

/** Sends a request to the parent and waits for its answer. */
export type Ask = (request: {
  readonly handle: string;
  readonly args: readonly unknown[];
  readonly bytes?: Uint8Array;
  readonly signal?: AbortSignal;
}) => Promise<Answer>;

export interface Answer {
  readonly value: unknown;
  readonly bytes: Uint8Array;
}

/** The same for handles that return their value at once: the whole cell waits for it. */
export type AskInstantly = (handle: string, args: readonly unknown[]) => unknown;

/** The name of a secret for a header or a variable of a program: its value stays in the parent. */
interface SecretName {
  readonly name: string;
}

// Register: the objects that stand for secrets, and were made here.
const secretNames = new WeakSet<object>();

function secretNamed(name: string): SecretName {
  const text = (): string => `[secret ${name}]`;
  const secret = Object.freeze({ name, toString: text, toJSON: text });
  secretNames.add(secret);
  return secret;
}

function isSecretName(value: unknown): value is SecretName {
  return typeof value === "object" && value !== null && secretNames.has(value);
}

/** The handles of the context, only of the kinds that the tool declared. */
export function makeHandles(
  names: readonly string[],
  ask: Ask,
  askInstantly: AskInstantly,
): Record<string, unknown> {
  const handles: Record<string, unknown> = {};
  const files: Record<string, unknown> = {};
  const functions: Record<string, unknown> = {};
  for (const name of names) {
    if (name.startsWith("functions."))
      functions[name.slice(10)] = async (...args: unknown[]) => (await ask({ handle: name, args })).value;
    else if (name.startsWith("fs.")) files[name.slice(3)] = fileHandle(name, ask);
    else if (name === "fetch") handles["fetch"] = fetchHandle(ask);
    else if (name === "exec") handles["exec"] = execHandle(ask);
    else if (name === "llm")
      handles["llm"] = async (prompt: unknown) => (await ask({ handle: name, args: [String(prompt)] })).value;
    else if (name === "env")
      handles["env"] = (variable: unknown) => askInstantly(name, [String(variable)]) ?? undefined;
    else if (name === "secret")
      handles["secret"] = (secret: unknown) => secretNamed(String(askInstantly(name, [String(secret)])));
  }
  if (Object.keys(files).length > 0) handles["fs"] = files;
  if (Object.keys(functions).length > 0) handles["functions"] = functions;
  return handles;
}

function fileHandle(name: string, ask: Ask): (path: unknown, data?: unknown) => Promise<unknown> {
  return async (path, data) => {
    if (name === "fs.writeBytes") {
      const bytes = bytesIn(data, "what is written") ?? Buffer.from(String(data));
      return void (await ask({ handle: name, args: [String(path)], bytes }));
    }
    const args = data === undefined ? [String(path)] : [String(path), data];
    const answer = await ask({ handle: name, args });
    return name === "fs.readBytes" ? new Uint8Array(answer.bytes) : (answer.value ?? undefined);
  };
}

interface Sent {
  readonly method?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly maxBytes?: unknown;
  readonly signal?: AbortSignal;
}

/** The answer of `fetch` without its body. */
interface Given {
  readonly status: number;
  readonly statusText: string;
  readonly headers: [string, string][];
  readonly url: string;
  readonly redirected: boolean;
}

function fetchHandle(ask: Ask): (url: unknown, options?: Sent) => Promise<Response> {
  return async (url, { method, headers, body, maxBytes, signal } = {}) => {
    const bytes = bytesIn(body, "a body");
    const sent = {
      method,
      headers: headers === undefined ? undefined : secretsNamed(headers, "the headers"),
      body: bytes === undefined ? body : undefined,
      maxBytes,
    };
    const request = { handle: "fetch", args: [String(url), sent] };
    const answer = await ask({ ...request, ...(bytes && { bytes }), ...(signal && { signal }) });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parent made it, which a cell trusts
    const { url: at, redirected, ...given } = answer.value as Given;
    const hasBody = ![101, 204, 205, 304].includes(given.status);
    return Object.defineProperties(new Response(hasBody ? new Uint8Array(answer.bytes) : null, given), {
      url: { value: at },
      redirected: { value: redirected },
    });
  };
}

interface Started {
  readonly cwd?: unknown;
  readonly env?: Readonly<Record<string, unknown>>;
  readonly input?: unknown;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: unknown;
  readonly maxBytes?: unknown;
}

function execHandle(
  ask: Ask,
): (program: unknown, args?: readonly unknown[], options?: Started) => Promise<unknown> {
  return async (program, args = [], { signal, env, input, ...options } = {}) => {
    const bytes = bytesIn(input, "the input");
    const sent = {
      ...options,
      env: env === undefined ? undefined : secretsNamed(env, "the variables"),
      input: bytes === undefined ? input : undefined,
    };
    const request = { handle: "exec", args: [String(program), args.map(String), sent] };
    return (await ask({ ...request, ...(bytes && { bytes }), ...(signal && { signal }) })).value;
  };
}

/** The bytes of a sent value, which go beside a message; undefined for a text. JSON would leave out anything else. */
function bytesIn(value: unknown, what: string): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (value === undefined || typeof value === "string") return undefined;
  throw new Error(`${what} is a text or bytes.`);
}

function named(value: unknown): unknown {
  return isSecretName(value) ? { secret: value.name } : String(value);
}

/** Replaces secrets by `{ secret: name }`: only the parent has their values. */
function secretsNamed(values: Readonly<Record<string, unknown>>, what: string): Record<string, unknown> {
  if (Symbol.iterator in values) throw new Error(`${what} are a plain object of names and values.`);
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.map(named) : named(value),
    ]),
  );
}

/** Asks over the pipe for instant answers, and blocks. */
export function askOverPipe(message: object): ToCellAnswer {
  const frame = encodeFrame(message);
  for (let sent = 0; sent < frame.length;) sent += writeSync(instantFd, frame, sent);
  const header = readExactly(8);
  const text = readExactly(header.readUInt32BE(0) + header.readUInt32BE(4)).toString();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parent made it, which a cell trusts
  return JSON.parse(text) as ToCellAnswer;
}

function readExactly(length: number): Buffer {
  const buffer = Buffer.alloc(length);
  for (let read = 0; read < length;) {
    const more = readSync(instantFd, buffer, read, length - read, null);
    if (more === 0) throw new Error("the parent is gone");
    read += more;
  }
  return buffer;
}
