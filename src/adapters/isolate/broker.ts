import type { CapabilityKind } from "../../tool/capability.ts";
import type { ExecOptions, FetchOptions, ByteRange, Handles, Secret } from "../../tool/handles.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, wholeJson } from "../../util/json.ts";
import { scrub } from "../capability/secrets.ts";
import type { AnswerRoom } from "./answer-room.ts";

/** A request of isolated code to a handle. Nothing in it is trusted. */
export interface HandleRequest {
  readonly handle: string;
  readonly args: readonly Json[];
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal;
  readonly room: AnswerRoom;
}

export interface HandleAnswer {
  readonly value: Json;
  readonly bytes?: Uint8Array;
}

/** The handles of one call, as the runtime put them into the tool's context; others were not granted. */
export interface GivenHandles extends Partial<Handles> {
  /** Functions of the author, which take and return JSON. */
  readonly functions?: ReadonlyMap<string, GivenFunction>;
}

/** A function for code: it gets the arguments from the code, and must not trust them. */
export type GivenFunction = (args: readonly Json[], asked: Pick<HandleRequest, "signal" | "room">) => unknown;

/** The names with which isolated code can ask, by the kind of capability that must be declared. */
const namesOfKind: Readonly<Record<CapabilityKind, readonly string[]>> = {
  net: ["fetch"],
  "fs.read": ["fs.readText", "fs.readBytes", "fs.list", "fs.stat"],
  "fs.write": ["fs.writeText", "fs.writeBytes", "fs.appendText", "fs.makeFolder", "fs.remove"],
  env: ["env"],
  secret: ["secret"],
  exec: ["exec"],
  llm: ["llm"],
};

/** The names with which code that declared these kinds may ask. */
export function handleNames(kinds: Iterable<CapabilityKind>): readonly string[] {
  return [...new Set(kinds)].flatMap((kind) => namesOfKind[kind]);
}

/** The handles that return their value without a promise. */
export const instantHandles: ReadonlySet<string> = new Set(["env", "secret"]);

/** The most bytes of a handle's answer for isolated code; a larger answer fails. */
const maxAnswerBytes = 32_000_000;

/**
 * Does a request of isolated code with the handles of its call. These are the handles that code of this process would have, so each look is
 * judged and recorded in the same way. Throws the error of the handle.
 */
export async function askHandle(handles: GivenHandles, request: HandleRequest): Promise<HandleAnswer> {
  const answer = await serve(handles, request);
  if ((answer.bytes?.length ?? 0) > maxAnswerBytes || textLength(answer.value) > maxAnswerBytes)
    throw new Error(
      `${request.handle} gave more than ${maxAnswerBytes} bytes, which isolated code cannot take.`,
    );
  return answer;
}

function textLength(value: Json): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, each: Json) => sum + textLength(each), 2);
  return isJsonObject(value)
    ? Object.values(value).reduce((sum: number, each) => sum + textLength(each), 2)
    : 4;
}

function serve(handles: GivenHandles, request: HandleRequest): Promise<HandleAnswer> | HandleAnswer {
  const { handle, args, bytes } = request;
  if (handle.startsWith("functions.")) return serveFunction(handles, request);
  if (handle.startsWith("fs.")) return serveFiles(present(handles.fs, handle), request);
  switch (handle) {
    case "fetch":
      return serveFetch(handles, request);
    case "exec":
      return serveExec(handles, request);
    case "llm":
      return present(handles.llm, handle)(text(args[0])).then(asValue);
    case "env":
    case "secret":
      return { value: askInstantly(handles, request) };
    default:
      throw new Error(`there is no handle "${handle.slice(0, 40)}" (${bytes.length} bytes)`);
  }
}

/** The value of a variable; for a secret only its name. Throws the error of the handle. */
export function askInstantly(
  handles: GivenHandles,
  { handle, args }: Pick<HandleRequest, "handle" | "args">,
): Json {
  if (handle === "env") return present(handles.env, handle)(text(args[0])) ?? null;
  return present(handles.secret, handle)(text(args[0])).name;
}

async function serveFunction(
  handles: GivenHandles,
  { handle, args, signal, room }: HandleRequest,
): Promise<HandleAnswer> {
  const given = present(handles.functions?.get(handle.slice("functions.".length)), handle);
  const value = wholeJson(await given(args, { signal, room }));
  if (!value.ok) throw new Error(`its result is not JSON: ${value.reason}`);
  return { value: value.value };
}

async function serveFiles(files: Handles["fs"], request: HandleRequest): Promise<HandleAnswer> {
  const { handle, args, bytes, room } = request;
  const path = text(args[0]);
  switch (handle) {
    case "fs.readText":
      return { value: Buffer.from(await readBounded(files, { path }, room)).toString("utf8") };
    case "fs.readBytes":
      return { value: null, bytes: await readBounded(files, { path, part: partOf(args[1]) }, room) };
    case "fs.list":
      return { value: (await files.list(path)).map(({ name, type }) => ({ name, type })) };
    case "fs.stat":
      return { value: (await files.stat(path)) ?? null };
    case "fs.writeBytes":
      await files.writeBytes(path, bytes);
      break;
    case "fs.writeText":
      await files.writeText(path, text(args[1]));
      break;
    case "fs.appendText":
      await files.appendText(path, text(args[1]));
      break;
    case "fs.makeFolder":
      await files.makeFolder(path);
      break;
    default:
      await files.remove(path);
  }
  return { value: null };
}

/** Reads at most one byte more of a file than isolated code can take, which shows that it is too long. */
function readBounded(
  files: Handles["fs"],
  { path, part = { from: 0, bytes: Infinity } }: { readonly path: string; readonly part?: ByteRange },
  room: AnswerRoom,
): Promise<Uint8Array> {
  const bytes = Math.min(part.bytes, maxAnswerBytes + 1);
  return room.within(bytes, () => files.readBytes(path, { from: part.from, bytes }));
}

/** The part of a file that code asked for. The handle judges the numbers; any other value means no number. */
function partOf(sent: Json | undefined): ByteRange | undefined {
  if (!isJsonObject(sent)) return undefined;
  const { from, bytes } = sent;
  return { from: typeof from === "number" ? from : NaN, bytes: typeof bytes === "number" ? bytes : NaN };
}

async function serveFetch(handles: GivenHandles, request: HandleRequest): Promise<HandleAnswer> {
  const { args, bytes, signal, room } = request;
  const fetch = present(handles.fetch, "fetch");
  const written = secretOr(handles);
  const sent = isJsonObject(args[1]) ? args[1] : {};
  const body = bytes.length > 0 ? bytes : sent["body"];
  const options: FetchOptions = {
    signal,
    ...(typeof sent["method"] === "string" && { method: sent["method"] }),
    ...(isJsonObject(sent["headers"]) && {
      headers: mapped(sent["headers"], (value) => (isJsonList(value) ? value.map(written) : written(value))),
    }),
    ...((typeof body === "string" || body instanceof Uint8Array) && { body }),
    maxBytes:
      typeof sent["maxBytes"] === "number" ? Math.min(sent["maxBytes"], maxAnswerBytes) : maxBodyBytes,
  };
  const response = await fetch(text(args[0]), options);
  const { status, statusText, url, redirected } = response;
  const longest = bodyBytes(response, options.maxBytes);
  const content = new Uint8Array(await room.within(longest, () => response.arrayBuffer()));
  // A header whose name has the mark of a secret is left out.
  const headers = [...response.headers].filter(([name]) => scrub(name) === name);
  return { value: { status, statusText, headers, url, redirected }, bytes: content };
}

const maxBodyBytes = 10_000_000;

/** The most bytes that the body of an answer can have: the server's length if the body is not compressed, otherwise the allowed size. */
export function bodyBytes({ headers }: Response, maxBytes: number = maxBodyBytes): number {
  const said = headers.has("content-encoding") ? null : headers.get("content-length");
  return said !== null && /^\d{1,8}$/.test(said) ? Math.min(Number(said), maxBytes) : maxBytes;
}

const maxOutputBytes = 1_000_000;

async function serveExec(handles: GivenHandles, request: HandleRequest): Promise<HandleAnswer> {
  const { args, bytes, signal, room } = request;
  const exec = present(handles.exec, "exec");
  const written = secretOr(handles);
  const list = Array.isArray(args[1]) ? args[1].map(text) : [];
  const sent = isJsonObject(args[2]) ? args[2] : {};
  const input = bytes.length > 0 ? bytes : sent["input"];
  const options: ExecOptions = {
    signal,
    ...(typeof sent["cwd"] === "string" && { cwd: sent["cwd"] }),
    ...(isJsonObject(sent["env"]) && {
      env: mapped(sent["env"], (value) => (isJsonList(value) ? value.map(written).join("") : written(value))),
    }),
    ...((typeof input === "string" || input instanceof Uint8Array) && { input }),
    ...(typeof sent["timeoutMs"] === "number" && { timeoutMs: sent["timeoutMs"] }),
    ...(typeof sent["maxBytes"] === "number" && { maxBytes: Math.min(sent["maxBytes"], maxAnswerBytes) }),
    ...(sent["onLimit"] === "cut" && { onLimit: "cut" }),
  };
  const outputs = 2 * (options.maxBytes ?? maxOutputBytes);
  const run = (): ReturnType<typeof exec> => exec(text(args[0]), list, options);
  const { exitCode, signal: killedBy, stdout, stderr, ...cut } = await room.within(outputs, run);
  return { value: { exitCode, signal: killedBy, stdout, stderr, ...cut } };
}

/** Replaces `{ secret: name }` by the secret of that name, if the tool may use it. */
function secretOr(handles: GivenHandles): (value: Json) => string | Secret {
  return (value) =>
    isJsonObject(value) && typeof value["secret"] === "string"
      ? present(handles.secret, "secret")(value["secret"])
      : text(value);
}

/** An object with the same keys. */
export function mapped<Value>(values: JsonObject, of: (value: Json) => Value): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, of(value)]));
}

/** Returns a handle that the call was given. */
export function present<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`this call was given no ${name}`);
  return value;
}

/** Returns a text that code sent. */
export function text(value: Json | undefined): string {
  if (typeof value !== "string") throw new Error("a text was expected");
  return value;
}

function asValue(value: string): HandleAnswer {
  return { value };
}
