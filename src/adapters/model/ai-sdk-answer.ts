import { fits, record } from "../../util/shape.ts";
import { endedEarly } from "./ai-sdk-end.ts";
import type { StreamPart } from "./ai-sdk-stream.ts";
import { tellWarnings } from "./ai-sdk-warnings.ts";
import { expectOneChoice, hidesWhatWasWritten } from "./ai-sdk-written.ts";
import { UnreadableReply } from "./http-reply.ts";
import { abortErrorOf } from "./streams.ts";

/** A model object, with the fields that describe it. */
interface ToldModel {
  readonly provider: string;
  readonly modelId: string;
}

/** The stream that a package opened, with the known facts about it. */
export interface OpenedStream {
  readonly stream: ReadableStream<unknown>;
  readonly model: ToldModel;
  readonly signal: AbortSignal;
  /** The media type of the answer, as the provider names it. Some that stream call it JSON. */
  readonly contentType: string;
}

/** Parts that are not content of a reply. */
const aside: ReadonlySet<string> = new Set(["stream-start", "response-metadata", "raw", "finish"]);

/**
 * The parts of a stream, without the finish of one that ended early. A reader that stops, or aborts, cancels
 * the stream, and with it the provider's request.
 *
 * @throws UnreadableReply for a page or JSON in place of a stream, for an empty stream, and for a reply with several choices
 */
export async function* streamParts({
  stream,
  model,
  signal,
  contentType,
}: OpenedStream): AsyncGenerator<StreamPart> {
  const reader = stream.getReader();
  const cancel = (): void => {
    reader.cancel(signal.reason).catch(() => undefined);
  };
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  const isJson = /\bjson\b/i.test(contentType);
  const readsRaw = hidesWhatWasWritten(model.provider);
  let isEmpty = true;
  try {
    expectNoPage(contentType, model);
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package's own types promise it, and they have three versions
      const part = next.value as StreamPart;
      if (part.type === "stream-start") tellWarnings(`${model.provider}/${model.modelId}`, part.warnings);
      if (part.type === "raw") expectOneChoice(part.rawValue);
      if (part.type === "raw" && !readsRaw) continue;
      const isEarly = part.type === "finish" && endedEarly(part);
      if (isJson && (isEarly || (part.type === "error" && part.error instanceof Error)))
        throw new UnreadableReply(
          `JSON came where a stream should${at(model)}: it is an error, or the server does not stream`,
        );
      if (isEarly) break;
      isEmpty &&= aside.has(part.type);
      yield part;
    }
    if (signal.aborted) throw abortErrorOf(signal);
    if (isEmpty)
      throw new UnreadableReply(
        `nothing of a reply came${at(model)}: the answer was empty, or a page or JSON in place of a stream`,
      );
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/** Refuses a page, which packages read as a stream without events. */
function expectNoPage(contentType: string, model: ToldModel): void {
  if (!/\bhtml\b/i.test(contentType)) return;
  throw new UnreadableReply(`an HTML page came where a reply should${at(model)}: check the base URL`, {
    retryable: false,
  });
}

/** The address that a package asks, for error messages: its configuration has it in one of two ways, if at all. */
function at(model: ToldModel): string {
  const config: unknown = "config" in model ? model.config : undefined;
  if (!fits(record, config)) return "";
  const { baseURL, url } = config;
  if (typeof baseURL === "string") return ` (from ${baseURL})`;
  if (typeof url !== "function") return "";
  try {
    return ` (from ${String(url({ path: "", modelId: model.modelId }))})`;
  } catch {
    return "";
  }
}
