import { WritError } from "../../error/writ-error.ts";
import { shownAddress } from "./options.ts";

/** The address of an Ollama server, and the headers of every request to it. */
export interface OllamaAddress {
  /** With scheme and port, without credentials and without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const defaultPort = 11_434;

/** The temperature of a request that says nothing of it. */
export const defaultTemperature = 0.7;

/**
 * Reads an address as Ollama's own tools do: the scheme may be missing, and without one the port too. What a server listens on everywhere
 * (`0.0.0.0`) is no address to reach it at: it becomes this machine's. A name and password become a header, `fetch` takes them nowhere else. Where no host
 * is given it is that of OLLAMA_HOST, which Ollama's own tools use too.
 *
 * @throws WritError `option-invalid`
 */
export function ollamaAddress(host: string | undefined, port?: number): OllamaAddress {
  if (host !== undefined) return addressOf({ host, option: "ollama host", port });
  return addressOf({ host: process.env["OLLAMA_HOST"] ?? "localhost", option: "OLLAMA_HOST", port });
}

interface Given {
  readonly host: string;
  /** The place where the host was given. */
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
    url: `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, ""),
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

/** The settings by which one request is carried out. */
export interface Connection {
  readonly address: OllamaAddress;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** A reply larger than this is broken off. */
  readonly maxReplyBytes: number;
  /** True for a reply of one JSON value a line; false for one value alone. */
  readonly lines: boolean;
}
