import { isJsonObject, parseJson } from "../../util/json.ts";

/** An answer with a status that says failure, with what its body said. */
export class RefusedRequest extends Error {
  override readonly name: string = "RefusedRequest";
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The provider's own word for it, like `model_not_found`. */
  readonly code: string | undefined;

  constructor({ status, headers }: Pick<Response, "status" | "headers">, reason: string, code?: string) {
    super(reason);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs((name) => headers.get(name));
  }
}

/** An answer that is not a reply: not JSON, too large, or something else than a chat. */
export class UnreadableReply extends Error {
  override readonly name: string = "UnreadableReply";
  /** True if the next answer may be readable. */
  readonly retryable: boolean;

  constructor(reason: string, { retryable = true }: { readonly retryable?: boolean } = {}) {
    super(reason);
    this.retryable = retryable;
  }
}

/** An error that the server put into its reply. */
export class ReportedError extends Error {
  override readonly name: string = "ReportedError";
  /** The server's own code: a status, or a word. */
  readonly code: string | number | undefined;

  constructor(reason: string, code?: string | number) {
    super(reason);
    this.code = code;
  }
}

const maxErrorBytes = 65_536;

/** The refusal of a server, read from the body of its answer. */
export async function refusalOf(response: Response): Promise<RefusedRequest> {
  const body =
    response.body === null
      ? ""
      : await new Response(response.body.pipeThrough(bounded(maxErrorBytes))).text();
  const { reason, code } = readError(body);
  return new RefusedRequest(response, reason || response.statusText || "no reason given", code);
}

/**
 * Reads an error body: `{"error": text}`, `{"error": {"message": text}}`, `{"message": text}`, `{"detail":
 * text}`, or the body itself.
 */
function readError(body: string): { readonly reason: string; readonly code?: string } {
  const parsed = parseJson(body);
  if (!parsed.ok || !isJsonObject(parsed.value)) return { reason: excerpt(body.trim()) };
  const { error, message, detail } = parsed.value;
  const reason = errorOf(error ?? message ?? detail) ?? excerpt(body);
  const code = isJsonObject(error) ? error["code"] : undefined;
  return typeof code === "string" ? { reason, code } : { reason };
}

/** The words of an `error` field, whatever its form; undefined when there are none. */
export function errorOf(error: unknown): string | undefined {
  if (typeof error === "string" && error !== "") return error;
  if (!isJsonObject(error)) return undefined;
  return typeof error["message"] === "string" ? error["message"] : excerpt(JSON.stringify(error));
}

/** The beginning of a text, where a message quotes it. */
export function excerpt(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Breaks off what is larger. */
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
 * Milliseconds until a provider may be asked again, from seconds or a date. Undefined when the provider names
 * none.
 */
export function retryAfterMs(headerOf: HeaderOf): number | undefined {
  const exact = headerOf("retry-after-ms")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(exact)) return Number(exact);
  const said = headerOf("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(said)) return Number(said) * 1000;
  const at = Date.parse(said);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
