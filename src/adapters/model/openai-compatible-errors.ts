import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { RefusedRequest, ReportedError } from "./http-reply.ts";
import { type AskedServer, brokenRequest, refusedRequest, saysNoNativeTools } from "./server-errors.ts";

/** The model that was asked, and how to find out what the server has instead. */
export interface AskedOpenai {
  readonly model: string;
  readonly url: string;
  readonly hasTools: boolean;
  /** The names of the server's models; undefined when it does not say. */
  models(this: void): Promise<readonly string[] | undefined>;
}

/** Makes a `WritError` of the cause that stopped a request. */
export async function openaiError(thrown: unknown, asked: AskedOpenai): Promise<WritError> {
  if (isWritError(thrown)) return thrown;
  const { model, hasTools } = asked;
  if (hasTools && isRefusal(thrown) && saysNoNativeTools(messageOf(thrown)))
    return withoutTools(asked, thrown);
  if (thrown instanceof RefusedRequest) return refusal(thrown, asked);
  if (thrown instanceof ReportedError) {
    const retryable = typeof thrown.code === "number" ? isRetryable(thrown.code) : undefined;
    const data = { provider: asked.url, model, reason: thrown.message };
    return new WritError("provider-failed", data, { cause: thrown, retryable });
  }
  return brokenRequest(thrown, serverOf(asked));
}

/** The model has no native tools: the provider said so, or drops them. */
export function withoutTools(asked: Pick<AskedOpenai, "model" | "url">, cause?: unknown): WritError {
  return new WritError(
    "model-without-tools",
    { provider: asked.url, model: asked.model, known: "unknown" },
    { cause },
  );
}

const refusedStatus: ReadonlySet<number> = new Set([400, 404, 422, 500, 501]);

function isRefusal(thrown: unknown): boolean {
  return (
    (thrown instanceof RefusedRequest && refusedStatus.has(thrown.status)) || thrown instanceof ReportedError
  );
}

/** The most names that a message lists. */
const maxListed = 12;

async function refusal(cause: RefusedRequest, asked: AskedOpenai): Promise<WritError> {
  const { status, message: said, code } = cause;
  const { model, url: provider } = asked;
  if (isUnknownModel(cause)) {
    const names = await asked.models();
    const more = (names?.length ?? 0) > maxListed ? ", …" : "";
    const known =
      names === undefined ? "unknown" : `${names.slice(0, maxListed).join(", ") || "no models"}${more}`;
    const advice = `Take one that it has. The server said: ${said}`;
    return new WritError("model-not-found", { provider, model, known, advice }, { cause });
  }
  return refusedRequest(cause, serverOf(asked), isRetryable(status) && code !== "insufficient_quota");
}

function serverOf({ model, url }: AskedOpenai): AskedServer {
  return {
    model,
    url,
    provider: url,
    silent: {
      provider: "the OpenAI-compatible server",
      advice: "Check `baseUrl` or OPENAI_BASE_URL, and that the server runs.",
    },
    keyFrom: "`apiKey` of the model, or OPENAI_API_KEY, which goes only to OPENAI_BASE_URL and to OpenAI",
  };
}

function isUnknownModel({ status, message, code }: RefusedRequest): boolean {
  if (code === "model_not_found" || (status === 404 && /\bmodel\b/i.test(message))) return true;
  return status === 400 && /\bmodel\b.*(?:not found|does not exist)|is not a valid model/i.test(message);
}

/** True if the server says that it cannot hold a reply to a schema, or not to this one. */
export function refusesFormat(thrown: unknown): boolean {
  return (
    thrown instanceof RefusedRequest &&
    refusedStatus.has(thrown.status) &&
    /response_format|json[_ ]?schema|structured[_ ]output|grammar/i.test(thrown.message)
  );
}

/** Too much at once, too slow, or broken: it may go better the next time. */
function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}
