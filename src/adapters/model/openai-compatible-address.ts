import { WritError } from "../../error/writ-error.ts";
import { headersOf, shownAddress } from "./options.ts";
import { withinOrigin } from "./within-origin.ts";

/** The address of an OpenAI-compatible server, with the fields of every request to it. */
export interface OpenaiServer {
  /** The address with its path, mostly `/v1`, without a slash at its end. */
  readonly url: string;
  /** The query, like `?api-version=1`. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** An author's options for a server. */
export interface ServerOptions {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

/**
 * Reads the address of the server: from the options, otherwise from OPENAI_BASE_URL. An address without a path gets `/v1`, and one of chat completions loses
 * that part of its path. No address is guessed, because prompts would go there. The key in OPENAI_API_KEY goes only to the address in OPENAI_BASE_URL and to OpenAI's own.
 *
 * @throws WritError `option-invalid`
 */
export function openaiServer(options: ServerOptions): OpenaiServer {
  const { baseUrl, headers, fetch: send = fetch } = options;
  const url = serverUrl(baseUrl ?? process.env["OPENAI_BASE_URL"] ?? "", namedIn(baseUrl));
  const isTrusted = baseUrl === undefined || url.hostname === "api.openai.com";
  const key = options.apiKey ?? (isTrusted ? process.env["OPENAI_API_KEY"]?.trim() : undefined) ?? "";
  return {
    url: `${url.origin}${url.pathname === "/" ? "/v1" : url.pathname.replace(/(?:\/chat\/completions)?\/*$/, "")}`,
    search: url.search,
    headers: headersOf(key === "" ? {} : { authorization: `Bearer ${key}` }, headers),
    fetch: withinOrigin(send),
  };
}

/** The place of an address as its author knows it; the option if nobody gave one. */
function namedIn(baseUrl: string | undefined): string {
  const isFromVariable = baseUrl === undefined && (process.env["OPENAI_BASE_URL"]?.trim() ?? "") !== "";
  return isFromVariable ? "OPENAI_BASE_URL" : "openaiCompatible baseUrl";
}

/** The address of a server in an option or a variable. @throws WritError `option-invalid` */
export function serverUrl(given: string, option: string): URL {
  const invalid = (value: string, advice: string): WritError =>
    new WritError("option-invalid", { option, value, advice });
  const text = given.trim();
  if (text === "") throw invalid("", "Give it, or set OPENAI_BASE_URL, like http://127.0.0.1:8080/v1.");
  if (!URL.canParse(text) || !/^https?:/i.test(text))
    throw invalid(shownAddress(given), "Give a URL like http://127.0.0.1:8080/v1.");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw invalid(shownAddress(given), "Give credentials as `apiKey` or in `headers`, not in the URL.");
  return url;
}
