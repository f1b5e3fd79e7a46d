import type { RunEnd, StoredRun } from "../durable/run-store.ts";
import type { AgentEvent } from "../event/event.ts";
import { contentText } from "../message/message.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import type { Caller } from "./callers.ts";
import { toldEvent } from "./told-failures.ts";
import type { ShownTools } from "./tool-pages.ts";
import { UiChunks, type UiChunk } from "./ui-chunks.ts";

/** A message as pages of the AI SDK keep it (`UIMessage` of `ai` 7). */
export interface UiMessage {
  readonly id: string;
  readonly role: string;
  readonly metadata?: Json;
  readonly parts: readonly UiPart[];
}

export interface UiPart {
  readonly type: string;
  readonly state?: string;
  readonly text?: string;
  readonly mediaType?: string;
  readonly url?: string;
  readonly approval?: { readonly id: string; readonly approved?: boolean; readonly reason?: string };
}

/** The id of the message that answers another message. */
export const answerId = (messageId: string | undefined): string => `${messageId}-answer`;

/** The metadata of an answer, the same while it is streamed and when it is read again. */
export function metadataOf(run: string, { outcome, usage }: Pick<RunEnd, "outcome" | "usage">): JsonObject {
  return { run, outcome: outcome.type, ...(usage === undefined ? {} : { usage: { ...usage } }) };
}

/** The reader of a chat. */
interface Reading {
  readonly messageId: string;
  /** The id of the run as its caller knows it. */
  readonly id: string;
  readonly tools: ShownTools;
  readonly caller: Caller;
}

/**
 * The messages of one run of a chat: the user's, and the answer if the run has ended. The stream of a run that is under way tells its text so far, from
 * the beginning.
 */
export async function messagesOf(
  run: StoredRun,
  { messageId, id, tools, caller }: Reading,
  facts: AsyncIterable<AgentEvent>,
): Promise<readonly UiMessage[]> {
  const said = { id: messageId, role: "user", parts: partsOfInput(run.input) };
  if (run.end === undefined) return [said];
  const { output } = run.end;
  const answer = new AnswerParts();
  const chunks = new UiChunks(tools);
  for await (const event of facts) for (const chunk of chunks.of(toldEvent(event, caller))) answer.add(chunk);
  // Another version of the agent may be unable to replay the turns.
  if (!answer.hasText && typeof output === "string" && output !== "")
    answer.parts.push({ type: "text", text: output, state: "done" });
  const metadata = metadataOf(id, run.end);
  return [said, { id: answerId(messageId), role: "assistant", metadata, parts: answer.parts }];
}

/** A part of a user's message, as agents take it. */
export type SaidPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly mediaType: string; readonly data: string };

/** True for parts from which the input of a message was made. Any run can be begun in the session of a chat, by an id of the caller's. */
export function isSaid(content: unknown): content is readonly SaidPart[] {
  return (
    Array.isArray(content) &&
    content.every(
      (part) =>
        isJsonObject(part) &&
        (part["type"] === "file" ? typeof part["data"] === "string" : typeof part["text"] === "string"),
    )
  );
}

/** The parts of a user's message, from the input that was made of it. */
function partsOfInput(input: Json): readonly UiPart[] {
  const [message] = Array.isArray(input) ? input : [];
  const content = isJsonObject(message) ? message["content"] : undefined;
  if (!isSaid(content)) return [{ type: "text", text: contentText(input) }];
  return content.map((part) =>
    part.type === "file"
      ? { type: part.type, mediaType: part.mediaType, url: `data:${part.mediaType};base64,${part.data}` }
      : part,
  );
}

type Part = UiPart & { readonly [field: string]: unknown };

/** Joins the chunks of a whole answer, as the client of the AI SDK does with those of a stream. */
class AnswerParts {
  readonly parts: Part[] = [];
  private readonly places = new Map<unknown, number>();

  get hasText(): boolean {
    return this.parts.some(({ type }) => type === "text");
  }

  add(chunk: UiChunk): void {
    const { type, id, delta, toolCallId, input, output, errorText, approvalId, reason } = chunk;
    if (type === "start-step") this.parts.push({ type: "step-start" });
    else if (type === "text-start" || type === "reasoning-start")
      this.put(`said ${String(id)}`, { type: type.replace("-start", ""), text: "", state: "done" });
    else if (type === "text-delta" || type === "reasoning-delta")
      this.change(`said ${String(id)}`, ({ text }) => ({ text: `${text}${String(delta)}` }));
    else if (type === "tool-input-available")
      this.put(toolCallId, { ...toolPart(chunk), state: "input-available", input });
    else if (type === "tool-input-error")
      this.put(toolCallId, { ...toolPart(chunk), state: "output-error", input, errorText });
    else if (type === "tool-output-available")
      this.change(toolCallId, () => ({ state: "output-available", output }));
    else if (type === "tool-output-error")
      this.change(toolCallId, () => ({ state: "output-error", errorText }));
    else if (type === "tool-approval-response") {
      const approval = { id: String(approvalId), approved: false, reason: String(reason) };
      this.change(approvalId, () => ({ state: "output-denied", approval }));
    }
  }

  private put(name: unknown, part: Part): void {
    const place = this.places.get(name) ?? this.parts.length;
    this.places.set(name, place);
    this.parts[place] = part;
  }

  private change(name: unknown, change: (part: Part) => Partial<Part>): void {
    const place = this.places.get(name) ?? -1;
    const part = this.parts[place];
    if (part !== undefined) this.parts[place] = { ...part, ...change(part) };
  }
}

function toolPart({ toolCallId, toolName, toolMetadata, dynamic }: UiChunk): Part {
  const named = dynamic === true ? { type: "dynamic-tool", toolName } : { type: `tool-${String(toolName)}` };
  return { ...named, toolCallId, ...(toolMetadata === undefined ? {} : { toolMetadata }) };
}

/** Makes the input of a run from a user's message: text, or a message of texts and files. `refuse` is called for a file that is not in the message itself. */
export function inputOf({ parts }: UiMessage, refuse: (reason: string) => never): Json {
  const said = parts.flatMap(({ type, text, mediaType, url = "" }): SaidPart[] => {
    if (type === "text" && text !== undefined) return [{ type, text }];
    if (type !== "file") return [];
    const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
    if (data === undefined || mediaType === undefined)
      return refuse("a file must be a data: URL with its media type");
    return [{ type, mediaType, data }];
  });
  return saidInput(said);
}

/** The input of a run for the parts of a message: text, or a message if there are files. */
export function saidInput(said: readonly SaidPart[]): Json {
  const texts = said.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === said.length ? texts.join("\n") : [{ role: "user", content: [...said] }];
}
