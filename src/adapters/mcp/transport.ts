import type * as McpClient from "@modelcontextprotocol/client";
import type * as McpStdio from "@modelcontextprotocol/client/stdio";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { visible } from "../../util/visible.ts";
import { importInstalled, importPeer } from "../peer.ts";
import { inTime } from "./in-time.ts";
import type { McpProgram, McpAddress, Place } from "./place.ts";

type Stdio = Pick<typeof McpStdio, "StdioClientTransport" | "DEFAULT_INHERITED_ENV_VARS">;

/** The MCP client library, as far as it is used. */
export type Library = Stdio &
  Pick<
    typeof McpClient,
    "Client" | "ProtocolError" | "SdkError" | "SdkErrorCode" | "StreamableHTTPClientTransport"
  >;

/** @throws WritError `peer-missing` */
export function loadLibrary(): Promise<Library> {
  const name = "@modelcontextprotocol/client";
  return importPeer(
    async () => ({
      ...(await importInstalled<typeof McpClient>(name)),
      ...(await importInstalled<Stdio>(`${name}/stdio`)),
    }),
    { package: name, purpose: "MCP servers" },
  );
}

/** @throws WritError `definition-invalid` */
export function checkPlace(place: Place, name: string): void {
  const fault = "url" in place ? faultOfUrl(place) : faultOfProgram(place);
  if (fault === undefined) return;
  throw new WritError("definition-invalid", { where: `The MCP server ${name}`, reason: fault });
}

function faultOfUrl({ url, ...rest }: McpAddress): string | undefined {
  if ("command" in rest) return "it has both `url` and `command`; give one of the two.";
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    return "`url` must be an http or https address.";
  return parsed.username === "" && parsed.password === ""
    ? undefined
    : "`url` must have no credentials; give them as `headers`.";
}

function faultOfProgram({ command, args = [] }: McpProgram): string | undefined {
  if (typeof command !== "string" || command === "") return "it needs `command` or `url`.";
  return Array.isArray(args) ? undefined : "`args` must be a list.";
}

/** The most characters kept of a program's standard error, for the author alone. */
const keptWords = 500;

export interface Connecting {
  readonly name: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Connects a new client. @throws WritError `mcp-unusable`; the reason of the signal when it is aborted */
export async function connectClient(
  library: Library,
  place: Place,
  connecting: Connecting,
): Promise<McpClient.Client> {
  const { name, timeoutMs, signal } = connecting;
  const client = new library.Client({ name: "writ", version: "1.0.0" });
  const { transport, words } = transportTo(library, place);
  try {
    const connect = (signal: AbortSignal): Promise<void> =>
      client.connect(transport, { timeout: timeoutMs, signal });
    await inTime(connect, { timeoutMs, signal, what: "connecting" });
    return client;
  } catch (error) {
    void client.close().catch(() => undefined);
    signal?.throwIfAborted();
    const said = words();
    const what = failureOf(error, place);
    const reason = said === "" ? what : `${what} Its last words: ${said}`;
    throw new WritError("mcp-unusable", { server: name, reason: visible(reason) }, { cause: error });
  }
}

function failureOf(error: unknown, place: Place): string {
  const text = messageOf(error);
  if (!("command" in place) || !text.includes("ENOENT")) return text;
  const command = JSON.stringify(place.command);
  return `the program ${command} was not found (${text}). See that \`command\` and \`cwd\` are right, and that ${command} is installed and on the PATH.`;
}

function transportTo(
  library: Library,
  place: Place,
): { readonly transport: Parameters<McpClient.Client["connect"]>[0]; readonly words: () => string } {
  if ("url" in place) {
    const { url, headers = {} } = place;
    const options = { fetch: boundedFetch, requestInit: { headers: { ...headers } } };
    return { transport: new library.StreamableHTTPClientTransport(new URL(url), options), words: () => "" };
  }
  const { command, args = [], env = {}, cwd } = place;
  const transport = new library.StdioClientTransport({
    command,
    args: [...args],
    env: environment(library, env),
    stderr: "pipe",
    cwd,
  });
  let words = "";
  transport.stderr?.on("data", (chunk: unknown) => (words = (words + String(chunk)).slice(-keptWords)));
  return { transport, words: () => words.trim() };
}

/** The library adds variables of this process that it takes for harmless; all but `PATH`, and what Windows cannot start without, are taken out. */
function environment(library: Library, env: Readonly<Record<string, string>>): Record<string, string> {
  const needed = new Set(["PATH", "PATHEXT", "SYSTEMROOT", "COMSPEC"]);
  const without = library.DEFAULT_INHERITED_ENV_VARS.filter((name) => !needed.has(name));
  // A variable that is undefined is not given to a process.
  return { ...(Object.fromEntries(without.map((name) => [name, undefined])) as object), ...env };
}

/** More than any message needs. One message of an event stream may be as long. */
const maxBytes = 10_000_000;

/** Sends a request as it is told to, follows no redirect by itself, and reads no answer that does not end. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  if (response.body === null) return response;
  const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
  const { status, statusText, headers } = response;
  const body = response.body.pipeThrough(bounded(isStream));
  const read = new Response(body, { status, statusText, headers });
  Object.defineProperty(read, "url", { value: response.url });
  return read;
}

/** Of a stream of events the count begins anew with each. */
function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let count = 0;
  let last = "";
  return new TransformStream({
    transform(chunk, controller) {
      count += chunk.length;
      if (isStream) {
        const text = last + new TextDecoder("latin1").decode(chunk);
        if (/\n\n|\r\r|\n\r\n/.test(text)) count = chunk.length;
        last = text.slice(-2);
      }
      if (count > maxBytes)
        controller.error(new Error(`the server sent more than ${maxBytes} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
}
