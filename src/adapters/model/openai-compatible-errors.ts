import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { RefusedRequest } from "./http-reply.ts";
import { kindOf } from "./fault-kind.ts";
import { hostedAt, hostedProviders, keyOf } from "./providers.ts";
import {
  type AskedServer,
  brokenRequest,
  faultError,
  listed,
  saysItCannot,
  saysNoNativeTools,
  unknownCallers,
} from "./server-errors.ts";

/** The model of a request, with a function that lists what the server has instead. */
export interface AskedOpenai {
  readonly model: string;
  readonly url: string;
  readonly hasTools: boolean;
  /** Returns the names of the server's models; undefined if it does not say. */
  models(this: void): Promise<readonly string[] | undefined>;
}

/** Makes a `WritError` from the cause that stopped a request. */
export async function openaiError(thrown: unknown, asked: AskedOpenai): Promise<WritError> {
  if (isWritError(thrown)) return thrown;
  if (asked.hasTools && isRefusal(thrown) && saysNoNativeTools(messageOf(thrown)))
    return withoutTools(asked, thrown);
  return thrown instanceof RefusedRequest ? refusal(thrown, asked) : brokenRequest(thrown, serverOf(asked));
}

/** The error of a model without native tools: the provider said so, or drops them. */
export function withoutTools(asked: Pick<AskedOpenai, "model" | "url">, cause?: unknown): WritError {
  return new WritError(
    "model-without-tools",
    { provider: asked.url, model: asked.model, known: unknownCallers },
    { cause },
  );
}

function isRefusal(thrown: unknown): thrown is RefusedRequest {
  return thrown instanceof RefusedRequest && saysItCannot(thrown.fault);
}

/** The most names that a message lists. */
const maxListed = 12;

async function refusal(cause: RefusedRequest, asked: AskedOpenai): Promise<WritError> {
  const { fault } = cause;
  const { model, url: provider } = asked;
  if (kindOf(fault) === "model") {
    const names = await asked.models();
    const known = listed(names, maxListed);
    const advice = `${names === undefined ? "Check the name" : "Take one that it has"}. The server said: ${fault.message}`;
    return new WritError("model-not-found", { provider, model, known, advice }, { cause });
  }
  return faultError(fault, serverOf(asked), cause);
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
    keyFrom: `\`apiKey\` of the model, or ${variableFor(url)}`,
  };
}

function variableFor(url: string): string {
  const host = hostedAt(url);
  if (host === undefined || host === "openai")
    return "OPENAI_API_KEY, which goes only to OPENAI_BASE_URL and to OpenAI";
  const about = hostedProviders[host];
  return `${keyOf(about)?.from ?? about.keys[0]} for a model named ${host}/…`;
}

/** True if the server says that it cannot hold a reply to a schema, or not to this one. */
export function refusesFormat(thrown: unknown): boolean {
  return (
    isRefusal(thrown) && /response_format|json[_ ]?schema|structured[_ ]output|grammar/i.test(thrown.message)
  );
}
