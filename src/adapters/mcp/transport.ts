import type * as McpClient from "@modelcontextprotocol/client";
import type * as McpStdio from "@modelcontextprotocol/client/stdio";
import { causesOf } from "../../error/causes.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { asSentence } from "../../util/as-sentence.ts";
import { visible } from "../../util/visible.ts";
import { boundedFetch } from "../bounded-fetch.ts";
import { errorWithoutKeys, type KeyScrub, keyScrub, receiveWithoutKeys } from "../model/without-keys.ts";
import { importInstalled, importPeer } from "../peer.ts";
import { isJsonObject, toJson } from "../../util/json.ts";
import { appExtension, appType } from "./apps.ts";
import type { Elicited, ElicitedAnswer } from "./elicitation.ts";
import { endCancelled } from "./end-cancelled.ts";
import { inTime } from "./in-time.ts";
import { type SigningIn, signingIn } from "./sign-in.ts";
import type { McpRevision } from "./wanted.ts";
import type { McpProgram, McpAddress, Place } from "./place.ts";

type Stdio = Pick<typeof McpStdio, "StdioClientTransport" | "DEFAULT_INHERITED_ENV_VARS">;

/** The parts of the MCP client library that are used. */
export type Library = Stdio &
  Pick<
    typeof McpClient,
    | "Client"
    | "ProtocolError"
    | "SdkError"
    | "SdkErrorCode"
    | "StreamableHTTPClientTransport"
    | "UnauthorizedError"
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

/** The most characters kept of a program's standard error. */
const keptWords = 500;

export interface Connecting {
  readonly name: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The revisions of the protocol that are offered. */
  readonly revision?: McpRevision | undefined;
  /** True if pages of the server are shown (MCP Apps). */
  readonly apps?: boolean | undefined;
  /** Answers questions of the server during a call. Left out, the server is told that nobody can be asked. */
  readonly elicit?: ((asked: Elicited) => Promise<ElicitedAnswer>) | undefined;
}

/** A client, and what is told of a failure: with the last words of a program, without keys. */
export interface Connected {
  readonly client: McpClient.Client;
  readonly told: (failure: string) => string;
}

/** Connects a new client. @throws WritError `mcp-unusable`; the reason of the signal if it is aborted */
export async function connectClient(
  library: Library,
  place: Place,
  connecting: Connecting,
): Promise<Connected> {
  const { name, timeoutMs, signal } = connecting;
  const signIn = "url" in place && place.signIn !== undefined ? await signingIn(place.signIn) : undefined;
  const scrub = scrubFor(place, signIn);
  for (let isSecond = false; ; isSecond = true) {
    const client = newClient(library, place, connecting);
    const { transport, words } = transportTo(library, place, signIn?.provider);
    const told = (failure: string): string => {
      const said = scrub(words());
      return visible(said === "" ? failure : `${asSentence(failure)} Its last words: ${said}`);
    };
    try {
      const connect = (signal: AbortSignal): Promise<void> =>
        client.connect(transport, { timeout: timeoutMs, signal });
      await inTime(connect, { timeoutMs, signal, what: "connecting" });
      receiveWithoutKeys(transport, scrub);
      if ("finishAuth" in transport) endCancelled(transport);
      if (signIn !== undefined && "finishAuth" in transport) signInAgain(library, transport, signIn);
      return { client, told };
    } catch (error) {
      void client.close().catch(() => undefined);
      signal?.throwIfAborted();
      try {
        if (isSecond || signIn === undefined || !(error instanceof library.UnauthorizedError)) throw error;
        const back = await signIn.signedIn(); // takes as long as a person takes
        if ("finishAuth" in transport) await transport.finishAuth(back);
      } catch (thrown) {
        const cause = errorWithoutKeys(thrown, scrub);
        const reason = told(failureOf(cause, place));
        throw new WritError("mcp-unusable", { server: name, reason }, { cause });
      }
    }
  }
}

/** Takes out of a server's words of failure the keys that it was given; those of a sign-in change. */
function scrubFor(place: Place, signIn: SigningIn | undefined): KeyScrub {
  const given = Object.entries(("url" in place ? place.headers : place.env) ?? {});
  return (text) => keyScrub([...given, ...(signIn?.secrets() ?? [])])(text);
}

/** Signs in again if a later request needs more rights than the sign-in gave, once per request. Requests that need it at the same time share it. */
function signInAgain(
  { UnauthorizedError }: Library,
  transport: McpClient.StreamableHTTPClientTransport,
  { signedIn }: SigningIn,
): void {
  const first = transport.send.bind(transport);
  let done = 0;
  let pending: Promise<void> | undefined;
  const again = async (): Promise<void> => {
    await transport.finishAuth(await signedIn());
    done += 1;
  };
  const send: typeof first = async (...request) => {
    const before = done;
    try {
      await first(...request);
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      if (done === before) await (pending ??= again().finally(() => (pending = undefined)));
      await first(...request);
    }
  };
  Object.assign(transport, { send });
}

function newClient(library: Library, place: Place, { elicit, revision, apps }: Connecting): McpClient.Client {
  // To ask a program for the newest revision, the library would start it twice.
  const wanted = revision ?? ("url" in place ? "auto" : "2025-11-25");
  const mode = wanted === "auto" ? "auto" : wanted === "2025-11-25" ? "legacy" : { pin: wanted };
  const capabilities = {
    ...(elicit === undefined ? {} : { elicitation: { form: {} } }),
    ...(apps === true ? { extensions: { [appExtension]: { mimeTypes: [appType] } } } : {}),
  };
  const client = new library.Client(
    { name: "writ", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode } },
  );
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const schema = toJson("requestedSchema" in params ? params.requestedSchema : undefined);
      const form = schema.ok && isJsonObject(schema.value) ? schema.value : undefined;
      return elicit({ message: params.message, schema: form });
    });
  return client;
}

function failureOf(error: unknown, place: Place): string {
  const text = messageOf(error);
  const deepest = causesOf(error).at(-1)?.message ?? ""; // the library says "fetch failed", and its cause to which address and why
  if ("url" in place) return text.includes(deepest) ? text : `${text} (${deepest})`;
  if (!("command" in place) || !text.includes("ENOENT")) return text;
  const command = JSON.stringify(place.command);
  const [program, ...args] = place.command.trim().split(/\s+/);
  if (args.length > 0 && place.args === undefined)
    return `the program ${command} was not found (${text}). No shell reads \`command\`: write \`command: ${JSON.stringify(program)}, args: ${JSON.stringify(args)}\`.`;
  return `the program ${command} was not found (${text}). See that \`command\` and \`cwd\` are right, and that ${command} is installed and on the PATH.`;
}

interface Transporting {
  readonly transport: McpClient.StreamableHTTPClientTransport | McpStdio.StdioClientTransport;
  /** The end of a program's standard error. */
  readonly words: () => string;
}

function transportTo(
  library: Library,
  place: Place,
  authProvider: McpClient.OAuthClientProvider | undefined,
): Transporting {
  if ("url" in place) {
    const { url, headers = {} } = place;
    const options = {
      fetch: boundedFetch(new URL(url).origin, headers),
      ...(authProvider && { authProvider }),
    };
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

/**
 * The environment of a program. The library adds variables of this process that it considers harmless; all but `PATH`, and those that Windows requires, are
 * removed.
 */
function environment(library: Library, env: Readonly<Record<string, string>>): Record<string, string> {
  const needed = new Set(["PATH", "PATHEXT", "SYSTEMROOT", "COMSPEC"]);
  const without = library.DEFAULT_INHERITED_ENV_VARS.filter((name) => !needed.has(name));
  // A variable that is undefined is not passed to a process.
  return { ...(Object.fromEntries(without.map((name) => [name, undefined])) as object), ...env };
}
