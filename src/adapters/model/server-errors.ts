import { causesOf } from "../../error/causes.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { UnreadableReply } from "./http-reply.ts";
import { kindOf, mayPass } from "./fault-kind.ts";
import type { ProviderFault } from "./provider-fault.ts";

/** A server that was asked for a reply, as errors name it. */
export interface AskedServer {
  readonly model: string;
  readonly url: string;
  /** The server that answered, with its address. */
  readonly provider: string;
  /** The name of the server that gave no answer, and the advice for the user. */
  readonly silent: { readonly provider: string; readonly advice: string };
  /** Source of the key. */
  readonly keyFrom: string;
}

/** The error of a fault that is the same for all adapters. The adapter itself handles a missing model. */
export function faultError(fault: ProviderFault, asked: AskedServer, cause: unknown): WritError {
  const { status, retryAfterMs } = fault;
  const { provider, model, url, keyFrom: where } = asked;
  const kind = kindOf(fault);
  const reason = `${fault.message}${status === undefined ? "" : ` (HTTP ${status})`}`;
  const said = { provider, model, reason };
  const retryable = mayPass(fault);
  if (kind === "context") return new WritError("context-exceeded", said, { cause });
  if (kind === "quota") return new WritError("model-quota-exceeded", said, { cause });
  if (kind === "rate") return new WritError("model-rate-limited", said, { cause, retryable, retryAfterMs });
  if (kind === "key") return new WritError("provider-refused-key", { ...said, where }, { cause });
  const elsewhere = status === 404 ? `: ${url} may be the address of something else` : "";
  const data = { ...said, reason: `${reason}${elsewhere}` };
  return new WritError("provider-failed", data, { cause, retryable, retryAfterMs });
}

/** The error of a broken connection, or of an unreadable answer. `said` is the text of any other fault. */
export function brokenRequest(cause: unknown, asked: AskedServer, said: string = reasonOf(cause)): WritError {
  const { provider, model, url, silent } = asked;
  const broken = brokenConnection(cause);
  if (broken?.unreachable === true)
    return new WritError("provider-unreachable", { ...silent, url, reason: broken.reason }, { cause });
  const data = { provider, model, reason: broken?.reason ?? said };
  return new WritError("provider-failed", data, {
    cause,
    retryable: broken !== undefined || !isLastingError(cause),
  });
}

const unreachableReasons: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing listens there (connection refused)"],
  ["ENOTFOUND", "there is no host of that name"],
  ["EAI_AGAIN", "the name of the host cannot be looked up"],
  ["EHOSTUNREACH", "there is no way to that host"],
  ["ENETUNREACH", "there is no way to that network"],
  ["ETIMEDOUT", "the host does not answer"],
  ["UND_ERR_CONNECT_TIMEOUT", "the host does not answer"],
  [
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "it answers without TLS, as at an address with http:// in place of https://",
  ],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another host"],
  ...[
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ].map(
    (code) =>
      [
        code,
        "nobody trusted has signed its certificate; NODE_EXTRA_CA_CERTS names a file with more signers",
      ] as const,
  ),
]);

const brokenReasons: ReadonlyMap<string, string> = new Map([
  [
    "UND_ERR_HEADERS_TIMEOUT",
    "it began no answer in time: the model may be too large for its machine, or the prompt too long; a `fetch` with another limit can be given",
  ],
  ["UND_ERR_BODY_TIMEOUT", "it stopped in the middle of the answer"],
  [
    "UND_ERR_SOCKET",
    "it closed the connection before the answer was complete: it may have crashed, its log says more",
  ],
  [
    "ECONNRESET",
    "it closed the connection before the answer was complete: it may have crashed, its log says more",
  ],
]);

/** The texts of connections in runtimes and in replacements of `fetch`; "Cannot read" is the text of a fault in code. */
const connectionWords =
  /^(?!Cannot ).*(?:fetch failed|failed to fetch|terminated|network|connection|socket)/i;

/** True for an error that will recur: a fault in code, or an answer of another kind. An error of `fetch` for a connection is a TypeError as well. */
export function isLastingError(thrown: unknown): boolean {
  if (thrown instanceof UnreadableReply) return !thrown.retryable;
  if (thrown instanceof RangeError || thrown instanceof ReferenceError) return true;
  return thrown instanceof TypeError && thrown.cause === undefined && !connectionWords.test(thrown.message);
}

interface ErrorFields {
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/**
 * The code of a connection error. `fetch` itself only says that it failed: the reason is in the causes, and for a host with several addresses in the attempts.
 */
function connectionCode(thrown: unknown, depth = 0): string | undefined {
  if (typeof thrown !== "object" || thrown === null || depth > 5) return undefined;
  const { code, cause, errors }: ErrorFields = thrown;
  if (typeof code === "string" && (unreachableReasons.has(code) || brokenReasons.has(code))) return code;
  for (const next of [cause, ...(Array.isArray(errors) ? (errors as readonly unknown[]) : [])]) {
    const found = connectionCode(next, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A broken connection in words. */
export interface BrokenConnection {
  /** True if the server was never reached. */
  readonly unreachable: boolean;
  readonly reason: string;
}

/** Describes an error of `fetch` as a broken connection, with the reason; undefined for another error. */
export function brokenConnection(thrown: unknown): BrokenConnection | undefined {
  const code = connectionCode(thrown) ?? "";
  const unreachable = unreachableReasons.get(code);
  if (unreachable !== undefined) return { unreachable: true, reason: unreachable };
  const broken = brokenReasons.get(code);
  return broken === undefined ? undefined : { unreachable: false, reason: broken };
}

/** The models of a server in a sentence; it says so if the server does not list them. */
export function listed(names: readonly string[] | undefined, most: number = Infinity): string {
  if (names === undefined) return "It does not say which models it has.";
  const more = names.length > most ? ", …" : "";
  return names.length === 0 ? "It has no models yet." : `It has: ${names.slice(0, most).join(", ")}${more}.`;
}

/** The sentence for a provider that does not say which of its models can call tools. */
export const unknownCallers = "It does not say which of its models can.";

/** The text of an error. `fetch` keeps the reason in its cause, and a proxy's answer in the cause of that. */
export function reasonOf(thrown: unknown): string {
  const said = messageOf(thrown);
  return thrown instanceof TypeError && thrown.cause !== undefined
    ? `${said}: ${messageOf(causesOf(thrown.cause).at(-1) ?? thrown.cause)}`
    : said;
}

/** True for a status with which servers say that they, or a model, cannot do what was asked; an error in a stream may have none. */
export function saysItCannot({ status }: ProviderFault): boolean {
  return status === undefined || [400, 404, 422, 500, 501].includes(status);
}

/**
 * True for the text of an error which says that the model, or the way in which it was started, has no native
 * tools. Ollama, vLLM, llama.cpp, OpenRouter and hosted providers each have their own text for it.
 */
export function saysNoNativeTools(text: string): boolean {
  return patterns.some((pattern) => pattern.test(text));
}

const toolWords = "(?:tools?|tool[- ]?(?:use|calls?|calling)|function[- ]?(?:calls?|calling)|functions)";
const patterns: readonly RegExp[] = [
  new RegExp(`(?:not|n't) (?:currently )?support(?: for)? (?:the )?(?:use of )?["'\`]?${toolWords}`, "i"),
  new RegExp(`${toolWords}["'\`]? (?:is|are) (?:not|un)[- ]?(?:yet )?(?:supported|available)`, "i"),
  new RegExp(`no endpoints found that support ${toolWords}`, "i"),
  // llama.cpp without --jinja, its older versions, vLLM without a parser
  /tools param requires --jinja/i,
  /unsupported param: tools/i,
  /tool choice requires --enable-auto-tool-choice|requires --tool-call-parser/i,
];
