import { WritError } from "../../error/writ-error.ts";
import { shownAddress } from "./options.ts";

/** The address of an Ollama server, and the headers of every request to it. */
export interface OllamaAddress {
  /** The address with scheme and port, without credentials and without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const defaultPort = 11_434;

/** The temperature of a request that sets none. */
export const defaultTemperature = 0.7;

/**
 * Reads an address as Ollama's own tools do: the scheme may be missing, and without one the port too. An address at which a server listens on all interfaces
 * (`0.0.0.0`) cannot be reached: it becomes this machine's. A name and password become a header, because `fetch` takes them nowhere else. Without
 * a host, it is that of OLLAMA_HOST, which Ollama's own tools use too. The path of its door for OpenAI's clients (`/v1`), or of its chat, is left out.
 *
 * @throws WritError `option-invalid`
 */
export function ollamaAddress(host: string | undefined, port?: number): OllamaAddress {
  if (host !== undefined) return addressOf({ host, option: "ollama host", port });
  return addressOf({ host: process.env["OLLAMA_HOST"] ?? "localhost", option: "OLLAMA_HOST", port });
}

interface Given {
  readonly host: string;
  /** The option or variable that the host came from. */
  readonly option: string;
  readonly port: number | undefined;
}

function addressOf({ host, option, port }: Given): OllamaAddress {
  const given = host.trim();
  const explicit = given.includes("://");
  const text = explicit ? given : `http://${given.startsWith(":") ? "localhost" : ""}${given || "localhost"}`;
  if (!URL.canParse(text) || !/^https?:/i.test(text))
    throw invalid(option, shownAddress(host), "Give it like http://localhost:11434.");
  const url = new URL(text);
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    throw invalid("ollama port", port, "Give a number from 1 to 65535.");
  if (port !== undefined) url.port = String(port);
  else if (!explicit && !/:\d+(?:\/|$)/.test(text.slice("http://".length))) url.port = String(defaultPort);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return {
    url: `${url.protocol}//${url.host}${url.pathname.replace(/(?:\/v1|\/api\/chat)?\/*$/, "")}`,
    headers: url.username === "" ? {} : { authorization: `Basic ${credentialsOf(url, option, host)}` },
  };
}

function credentialsOf({ username, password }: URL, option: string, host: string): string {
  try {
    return Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  } catch {
    throw invalid(option, shownAddress(host), "Write a `%` of its name or password as `%25`.");
  }
}

function invalid(option: string, value: string | number, advice: string): WritError {
  return new WritError("option-invalid", { option, value, advice });
}

/** The settings of one request. */
export interface Connection {
  readonly address: OllamaAddress;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** The size at which a reply is broken off. */
  readonly maxReplyBytes: number;
  /** True for a reply with one JSON value per line; false for one value alone. */
  readonly lines: boolean;
}
