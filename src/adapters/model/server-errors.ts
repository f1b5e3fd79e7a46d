import { WritError } from "../../error/writ-error.ts";
import { brokenConnection, reasonOf } from "./broken-connection.ts";
import { type RefusedRequest, UnreadableReply } from "./http-reply.ts";

/** A server that was asked for a reply, as errors name it. */
export interface AskedServer {
  readonly model: string;
  readonly url: string;
  /** The server as the one that answered: with its address. */
  readonly provider: string;
  /** What nothing was heard of, and what to do then. */
  readonly silent: { readonly provider: string; readonly advice: string };
  /** Where its key comes from. */
  readonly keyFrom: string;
}

/** A server refused the request, for a reason that most servers have. */
export function refusedRequest(cause: RefusedRequest, asked: AskedServer, retryable: boolean): WritError {
  const { status, message: said, retryAfterMs } = cause;
  const { provider, model, url, keyFrom: where } = asked;
  if (status === 401 || status === 403)
    return new WritError("provider-refused-key", { provider, model, reason: said, where }, { cause });
  const elsewhere = status === 404 ? `: ${url} may be the address of something else` : "";
  const reason = `${said} (HTTP ${status})${elsewhere}`;
  return new WritError("provider-failed", { provider, model, reason }, { cause, retryable, retryAfterMs });
}

/** The connection broke, or what came could not be read. `said` are the words of any other fault. */
export function brokenRequest(cause: unknown, asked: AskedServer, said: string = reasonOf(cause)): WritError {
  const { provider, model, url, silent } = asked;
  const broken = brokenConnection(cause);
  if (broken?.unreachable === true)
    return new WritError("provider-unreachable", { ...silent, url, reason: broken.reason }, { cause });
  const retryable = cause instanceof UnreadableReply ? cause.retryable : undefined;
  const data = { provider, model, reason: broken?.reason ?? said };
  return new WritError("provider-failed", data, { cause, retryable });
}
