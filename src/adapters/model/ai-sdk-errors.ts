import { setImmediate } from "node:timers/promises";
import { causesOf } from "../../error/causes.ts";
import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { StreamFailure } from "./ai-sdk-stream.ts";
import { retryAfterMs } from "./http-reply.ts";
import { kindOf } from "./fault-kind.ts";
import { type ProviderFault, readFault } from "./provider-fault.ts";
import { hostedAs, keyOf } from "./providers.ts";
import {
  type AskedServer,
  brokenConnection,
  brokenRequest,
  faultError,
  isLastingError,
  listed,
  saysItCannot,
  saysNoNativeTools,
  unknownCallers,
} from "./server-errors.ts";
import { type KeyScrub, keyScrub } from "./without-keys.ts";

/** The model that was asked, and whether the request had tools. */
export interface AskedModel {
  readonly provider: string;
  readonly model: string;
  readonly hasTools: boolean;
}

/**
 * Makes a `WritError` of an error that a provider package threw, or put into its stream. Errors of the AI SDK are recognised
 * by their name and fields, so that any installed version of it works.
 */
export function providerError(thrown: unknown, asked: AskedModel): WritError {
  if (isWritError(thrown)) return thrown;
  const cause = causeOf(thrown);
  const about = fieldsOf(cause);
  const fault = packageFault(thrown);
  const { provider, model } = asked;
  if (asked.hasTools && saysNoTools(about, fault))
    return new WritError("model-without-tools", { provider, model, known: unknownCallers }, { cause });
  if (about.name === "AI_NoSuchModelError" || kindOf(fault) === "model") {
    const advice = `Check the name of the model and the base URL. The provider said: ${fault.message}`;
    return new WritError("model-not-found", { provider, model, known: listed(undefined), advice }, { cause });
  }
  const server = serverOf(asked, about);
  return fault.status === undefined && brokenConnection(cause) !== undefined
    ? brokenRequest(cause, server)
    : faultError(fault, server, cause);
}

const hopelessNames: ReadonlySet<unknown> = new Set([
  "AI_UnsupportedFunctionalityError",
  "AI_InvalidPromptError",
  "AI_InvalidArgumentError",
  "AI_LoadSettingError",
]);

/** The fault in an error of a package. If the package itself says that a repetition will not help, that counts. */
export function packageFault(thrown: unknown): ProviderFault {
  const cause = causeOf(thrown);
  const about = fieldsOf(cause);
  const { name, statusCode, isRetryable } = about;
  const said = saidBy(cause, about);
  const status = typeof statusCode === "number" && statusCode >= 400 ? statusCode : said.status;
  const isRefused = status !== undefined && isRetryable === false;
  return {
    ...said,
    names: name === "AI_LoadAPIKeyError" ? ["invalid_api_key"] : said.names,
    status,
    retryAfterMs: retryAfterMs((header) => headerOf(about, header)) ?? said.retryAfterMs,
    isLasting: hopelessNames.has(name) || isRefused || isLastingError(cause),
  };
}

/** The provider's own text if the package kept it; otherwise the package's. */
function saidBy(cause: unknown, { responseBody, data, value }: ErrorFields): ProviderFault {
  const isError = cause instanceof Error;
  const body = typeof responseBody === "string" && responseBody.trim() !== "" ? responseBody : data;
  const said = readFault(body ?? value ?? (isError ? "" : cause));
  const own = isError || typeof cause !== "object" ? withRoot(messageOf(cause), cause) : "";
  const isProse = typeof body === "string" && !/^\s*[[{]/.test(body);
  return { ...said, message: isProse ? `${own}: ${said.message}` : said.message || own };
}

/** Adds the text of the last cause if no answer came: the package has only that of the first, and a proxy's answer is in the last. */
function withRoot(said: string, thrown: unknown): string {
  const root = causesOf(thrown).at(-1)?.message ?? "";
  return !said.startsWith("Cannot connect to API") || said.includes(root) ? said : `${said} ${root}`;
}

/** The cause of an error: an error part of a stream holds the provider's text. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof StreamFailure ? thrown.cause : thrown;
}

interface ErrorFields {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
  readonly url?: unknown;
  /** The body of the answer as JSON, if the provider package could read it. */
  readonly data?: unknown;
  readonly responseBody?: unknown;
  readonly responseHeaders?: unknown;
  /** A part of a stream that the package could not read. */
  readonly value?: unknown;
}

/** Reads a header; provider packages keep the names in lower case. */
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

function saysNoTools(about: ErrorFields, fault: ProviderFault): boolean {
  const isSaid = about.name === "AI_UnsupportedFunctionalityError" || saysItCannot(fault);
  return (
    isSaid && saysNoNativeTools(`${fault.message} ${String(about.message)} ${String(about.responseBody)}`)
  );
}

function serverOf({ provider, model }: AskedModel, about: ErrorFields): AskedServer {
  const advice = `Check the base URL of the AI SDK provider "${provider}" and the network.`;
  return {
    model,
    provider,
    // Without its query, in which some providers have the key.
    url: typeof about.url === "string" ? about.url.replace(/[?#].*$/, "") : "its address",
    silent: { provider, advice },
    keyFrom: keyFrom(provider, about),
  };
}

/** The source of the key: a package itself reads the first variable of its provider, a model made by name takes the first one that is set. */
function keyFrom(provider: string, { name }: ErrorFields): string {
  const object = `the AI SDK provider "${provider}"`;
  const about = hostedAs(provider);
  if (about === undefined) return `${object}: its \`apiKey\`, or the environment variable it reads`;
  const found = name === "AI_LoadAPIKeyError" ? undefined : keyOf(about)?.from;
  return `${found ?? about.keys[0]}, or the \`apiKey\` of ${object} where one was given`;
}

/** A model of a package, with the configuration that most packages keep with it. */
interface ConfiguredModel {
  readonly provider: string;
  readonly config?: { readonly headers?: unknown };
}

/** Takes the keys of a model's requests out of texts: those in the headers that its package sends, and in the variables of its provider. */
export async function modelKeyScrub({ provider, config }: ConfiguredModel): Promise<KeyScrub> {
  const variables = hostedAs(provider)?.keys ?? [];
  return keyScrub([
    ...variables.map((name) => [name, process.env[name]] as const),
    ...Object.entries(await headersIn(config)),
  ]);
}

/** The headers in the configuration that packages keep with a model, if they are known at once: to fetch a new key would delay the error. */
async function headersIn(config: ConfiguredModel["config"]): Promise<object> {
  try {
    const headers = config?.headers;
    const known = typeof headers === "function" ? headers() : headers;
    return Object(await Promise.race([known, setImmediate()]));
  } catch {
    return {};
  }
}
