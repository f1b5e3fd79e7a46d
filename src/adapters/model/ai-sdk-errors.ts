import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { StreamFailure } from "./ai-sdk-stream.ts";
import { retryAfterMs } from "./http-reply.ts";
import { brokenConnection, saysNoNativeTools } from "./server-errors.ts";

/** The model that was asked, and whether the request had tools. */
export interface AskedModel {
  readonly provider: string;
  readonly model: string;
  readonly hasTools: boolean;
}

/**
 * Makes a `WritError` of what a provider package threw, or put into its stream. Errors of the AI SDK are told
 * by their name and fields, so that any installed version of it works.
 */
export function providerError(thrown: unknown, asked: AskedModel): WritError {
  if (isWritError(thrown)) return thrown;
  const cause = thrown instanceof StreamFailure ? thrown.cause : thrown;
  const { provider, model } = asked;
  const about = fieldsOf(cause);
  const reason = reasonOf(cause, about);
  if (asked.hasTools && saysNoTools(about, reason)) {
    return new WritError("model-without-tools", { provider, model, known: "unknown" }, { cause });
  }
  if (about.name === "AI_LoadAPIKeyError" || about.statusCode === 401 || about.statusCode === 403) {
    const where = `the AI SDK provider "${provider}": its \`apiKey\`, or the environment variable it reads`;
    return new WritError("provider-refused-key", { provider, model, reason, where }, { cause });
  }
  if (about.name === "AI_NoSuchModelError" || about.statusCode === 404) {
    const advice = `Check the name of the model and the base URL. The provider said: ${reason}`;
    return new WritError("model-not-found", { provider, model, known: "unknown", advice }, { cause });
  }
  if (brokenConnection(cause)?.unreachable === true) {
    const advice = `Check the base URL of the AI SDK provider "${provider}" and the network.`;
    return new WritError(
      "provider-unreachable",
      { provider, url: addressOf(about), reason, advice },
      { cause },
    );
  }
  return new WritError(
    "provider-failed",
    { provider, model, reason },
    { cause, retryable: isRetryable(about), retryAfterMs: retryAfterMs((name) => headerOf(about, name)) },
  );
}

interface ErrorFields {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly error?: unknown;
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
  readonly url?: unknown;
  /** The body of the answer as JSON, when the provider package could read it. */
  readonly data?: unknown;
  readonly responseBody?: unknown;
  readonly responseHeaders?: unknown;
}

/** Provider packages keep the names in lower case. */
function headerOf({ responseHeaders }: ErrorFields, name: string): string | undefined {
  const value: unknown =
    typeof responseHeaders === "object" && responseHeaders !== null
      ? Object.getOwnPropertyDescriptor(responseHeaders, name)?.value
      : undefined;
  return typeof value === "string" ? value : undefined;
}

function fieldsOf(thrown: unknown): ErrorFields {
  return typeof thrown === "object" && thrown !== null ? thrown : {};
}

const longestExcerpt = 300;

/** The provider's own words. Where the package could not read them, the beginning of the answer's body. */
function reasonOf(thrown: unknown, about: ErrorFields): string {
  const status = typeof about.statusCode === "number" ? ` (HTTP ${about.statusCode})` : "";
  const body =
    typeof about.responseBody === "string" && about.data === undefined ? about.responseBody.trim() : "";
  const excerpt = body === "" ? "" : `: ${body.slice(0, longestExcerpt)}`;
  return `${wordsOf(thrown, about)}${status}${excerpt}`;
}

function wordsOf(thrown: unknown, about: ErrorFields): string {
  if (thrown instanceof Error || typeof thrown !== "object" || thrown === null) return messageOf(thrown);
  const message = about.message ?? fieldsOf(about.error).message ?? about.error;
  return typeof message === "string" ? message : JSON.stringify(thrown).slice(0, longestExcerpt);
}

const refusedStatus: ReadonlySet<unknown> = new Set([400, 404, 422, 500, 501]);

function saysNoTools(about: ErrorFields, reason: string): boolean {
  if (about.name !== "AI_UnsupportedFunctionalityError" && !refusedStatus.has(about.statusCode)) return false;
  const body = typeof about.responseBody === "string" ? about.responseBody : "";
  return saysNoNativeTools(reason) || saysNoNativeTools(body);
}

/** Without its query, where some providers carry the key. */
function addressOf(about: ErrorFields): string {
  return typeof about.url === "string" ? about.url.replace(/[?#].*$/, "") : "its address";
}

const hopelessNames: ReadonlySet<unknown> = new Set([
  "AI_UnsupportedFunctionalityError",
  "AI_InvalidPromptError",
  "AI_InvalidArgumentError",
  "AI_LoadSettingError",
]);

/** The package's own verdict; undefined leaves it to the catalogue. */
function isRetryable(about: ErrorFields): boolean | undefined {
  if (typeof about.isRetryable === "boolean") return about.isRetryable;
  return hopelessNames.has(about.name) ? false : undefined;
}
