import { type ProviderFault, readFault } from "./provider-fault.ts";

/** The error of a request that the provider refused, with its status, or with an error in the reply. */
export class RefusedRequest extends Error {
  override readonly name: string = "RefusedRequest";
  readonly fault: ProviderFault;

  constructor(fault: ProviderFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** The error of an answer that is not a reply: not JSON, too large, or something other than a chat. */
export class UnreadableReply extends Error {
  override readonly name: string = "UnreadableReply";
  /** True if the next answer may be readable. */
  readonly retryable: boolean;

  constructor(reason: string, { retryable = true }: { readonly retryable?: boolean } = {}) {
    super(reason);
    this.retryable = retryable;
  }
}

/** The most characters of a refusal that are read, and the longest time. */
const maxErrorLength = 65_536;
const maxErrorMs = 5_000;

/** The refusal of a server, from the body of its answer; its status counts whatever the body is. */
export async function refusalOf(response: Response): Promise<RefusedRequest> {
  const { body, status, statusText, headers } = response;
  const fault = readFault(await beginningOf(body));
  const message = fault.message || statusText || "no reason given";
  const wait = retryAfterMs((name) => headers.get(name)) ?? fault.retryAfterMs;
  return new RefusedRequest({ ...fault, status, message, retryAfterMs: wait });
}

/** The text of a body, as far as it comes in time and fits. */
export async function beginningOf(body: Response["body"]): Promise<string> {
  const decoder = new TextDecoder();
  const late = AbortSignal.timeout(maxErrorMs);
  let text = "";
  try {
    for await (const bytes of body?.pipeThrough(new TransformStream(), { signal: late }) ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > maxErrorLength) break;
    }
  } catch {
    // it broke off, or does not end; the received part is returned
  }
  return text;
}

/** Breaks off a body that is larger. */
export function bounded(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes)
        throw new UnreadableReply(`the answer is larger than ${maxBytes} bytes`, { retryable: false });
      controller.enqueue(chunk);
    },
  });
}

/** Reads a header by its name in lower case. */
export type HeaderOf = (name: string) => string | null | undefined;

/**
 * The milliseconds until a provider may be asked again, from seconds or a date. Undefined if the provider names
 * none.
 */
export function retryAfterMs(headerOf: HeaderOf): number | undefined {
  const exact = headerOf("retry-after-ms")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(exact)) return Number(exact);
  const said = headerOf("retry-after")?.trim() ?? "";
  const [seconds] = /^\d+(?:\.\d+)?(?=\s*(?:,|$))/.exec(said) ?? []; // a proxy may add a second one
  if (seconds !== undefined) return Number(seconds) * 1000;
  const at = /[a-z]{3}/i.test(said) || /^\d{4}-\d\d/.test(said) ? Date.parse(said) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
