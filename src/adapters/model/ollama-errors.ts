import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { brokenConnection, reasonOf } from "./broken-connection.ts";
import { RefusedRequest, UnreadableReply } from "./http-reply.ts";

/** The model that was asked, and how to find out what the server has instead. */
export interface AskedOllama {
  readonly model: string;
  readonly url: string;
  /** The names of the models that are installed; undefined when the server does not say. */
  installed(this: void): Promise<readonly string[] | undefined>;
  /** The same for those that can call tools. */
  withTools(this: void): Promise<readonly string[] | undefined>;
}

/** What stopped a request, as a `WritError` with the thing itself as its cause. */
export async function ollamaError(thrown: unknown, asked: AskedOllama): Promise<WritError> {
  if (isWritError(thrown)) return thrown;
  const { model } = asked;
  if (/does not support (?:tools|tool|function)/i.test(messageOf(thrown))) {
    const known = list(await asked.withTools(), "none is installed here; fetch one, like: ollama pull qwen3");
    return new WritError("model-without-tools", { provider: nameOf(asked), model, known }, { cause: thrown });
  }
  return thrown instanceof RefusedRequest ? refusal(thrown, asked) : brokenRequest(thrown, asked);
}

async function refusal(cause: RefusedRequest, asked: AskedOllama): Promise<WritError> {
  const { status, message: said } = cause;
  const { model, url } = asked;
  const provider = nameOf(asked);
  if (status === 404 && /\bmodel\b/i.test(said)) {
    const known = list(await asked.installed(), "no models yet");
    return new WritError(
      "model-not-found",
      { provider, model, known, advice: `Fetch it: ollama pull ${model}` },
      { cause },
    );
  }
  if (status === 401 || status === 403) {
    const where = "`headers` of the model, OLLAMA_API_KEY for ollama.com, or sign in: ollama signin";
    return new WritError("provider-refused-key", { provider, model, reason: said, where }, { cause });
  }
  const reason = `${said} (HTTP ${status})${status === 404 ? `: ${url} may be the address of something else` : ""}`;
  const retryable = status === 408 || status === 429 || status >= 500;
  const { retryAfterMs } = cause;
  return new WritError("provider-failed", { provider, model, reason }, { cause, retryable, retryAfterMs });
}

function brokenRequest(cause: unknown, asked: AskedOllama): WritError {
  const { model, url } = asked;
  const broken = brokenConnection(cause);
  if (broken?.unreachable === true) {
    const data = { provider: "Ollama", url, reason: broken.reason, advice: startAdvice };
    return new WritError("provider-unreachable", data, { cause });
  }
  const reason = broken?.reason ?? saidBy(cause);
  const retryable = cause instanceof UnreadableReply ? cause.retryable : undefined;
  return new WritError("provider-failed", { provider: nameOf(asked), model, reason }, { cause, retryable });
}

function nameOf({ url }: AskedOllama): string {
  return `Ollama at ${url}`;
}

function list(names: readonly string[] | undefined, whenNone: string): string {
  if (names === undefined) return "unknown";
  return names.length === 0 ? whenNone : names.join(", ");
}

const startAdvice =
  "Start it with `ollama serve`. If it runs elsewhere, set OLLAMA_HOST or give the model a `host`. Without Ollama, see writ at work with: npx writ demo";

/** What the package says of a stream that just ends, nobody understands. */
function saidBy(thrown: unknown): string {
  const said = reasonOf(thrown);
  return said.startsWith("Did not receive done") ? "the answer ended before the reply did" : said;
}
