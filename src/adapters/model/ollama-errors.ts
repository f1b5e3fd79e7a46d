import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { RefusedRequest } from "./http-reply.ts";
import { kindOf } from "./fault-kind.ts";
import {
  type AskedServer,
  brokenRequest,
  faultError,
  listed,
  reasonOf,
  unknownCallers,
} from "./server-errors.ts";

/** The model of a request, with functions that list what the server has instead. */
export interface AskedOllama {
  readonly model: string;
  readonly url: string;
  /** Returns the names of the installed models; undefined if the server does not say. */
  installed(this: void): Promise<readonly string[] | undefined>;
  /** The same for models that can call tools. */
  withTools(this: void): Promise<readonly string[] | undefined>;
}

/** Makes a `WritError` from the cause that stopped a request. */
export async function ollamaError(thrown: unknown, asked: AskedOllama): Promise<WritError> {
  if (isWritError(thrown)) return thrown;
  const { model } = asked;
  if (/does not support (?:tools|tool|function)/i.test(messageOf(thrown))) {
    const known = callersIn(await asked.withTools());
    return new WritError("model-without-tools", { provider: nameOf(asked), model, known }, { cause: thrown });
  }
  return thrown instanceof RefusedRequest
    ? refusal(thrown, asked)
    : brokenRequest(thrown, serverOf(asked), saidBy(thrown));
}

async function refusal(cause: RefusedRequest, asked: AskedOllama): Promise<WritError> {
  const { fault } = cause;
  const { model } = asked;
  if (kindOf(fault) === "model") {
    const known = listed(await asked.installed());
    const advice = `Fetch it: ollama pull ${model}`;
    return new WritError("model-not-found", { provider: nameOf(asked), model, known, advice }, { cause });
  }
  return faultError(fault, serverOf(asked), cause);
}

function serverOf(asked: AskedOllama): AskedServer {
  const { model, url } = asked;
  const keyFrom = "`headers` of the model, OLLAMA_API_KEY for ollama.com, or sign in: ollama signin";
  return {
    model,
    url,
    provider: nameOf(asked),
    silent: { provider: "Ollama", advice: startAdvice },
    keyFrom,
  };
}

function nameOf({ url }: AskedOllama): string {
  return `Ollama at ${url}`;
}

function callersIn(names: readonly string[] | undefined): string {
  if (names === undefined) return unknownCallers;
  return names.length === 0
    ? "None is installed here; fetch one, like: ollama pull qwen3"
    : `Here these can: ${names.join(", ")}.`;
}

const startAdvice =
  "Start it with `ollama serve`. If it runs elsewhere, set OLLAMA_HOST or give the model a `host`. Without Ollama, see writ at work with: npx writ demo";

/** The text of an error. Replaces the package's unclear text for a stream that just ends. */
function saidBy(thrown: unknown): string {
  const said = reasonOf(thrown);
  return said.startsWith("Did not receive done") ? "the answer ended before the reply did" : said;
}
