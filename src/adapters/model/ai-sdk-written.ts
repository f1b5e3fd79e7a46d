import { asObject, isJsonList, isJsonObject } from "../../util/json.ts";
import { UnreadableReply } from "./http-reply.ts";
import { callPieces, choiceOf, reasonIn } from "./openai-choice.ts";

/** True for a package of chat completions, whose raw chunks are requested because it mixes separate values. */
export function readsChunks(provider: string): boolean {
  return provider.endsWith(".chat") || hidesWhatWasWritten(provider);
}

/**
 * Accepts only one choice in a raw chunk: packages put the pieces of all choices into one reply, where they cannot be separated.
 *
 * @throws UnreadableReply for a chunk of another choice than the first
 */
export function expectOneChoice(chunk: unknown): void {
  const choices = isJsonObject(chunk) ? chunk["choices"] : undefined;
  if (!isJsonList(choices)) return;
  for (const choice of choices)
    if (isJsonObject(choice) && Number(choice["index"] ?? 0) !== 0)
      throw new UnreadableReply(
        "the reply has several choices, which its package mixes: ask for one, without `n`",
        { retryable: false },
      );
}

/**
 * True for a package that returns `{}` for arguments which came in one piece and are not JSON, and for those of a
 * stream that broke off: only its raw chunks have the text of the provider.
 */
export function hidesWhatWasWritten(provider: string): boolean {
  return /^openrouter\b/.test(provider);
}

/** Begins to read a reply of such a package; undefined for another one. */
export function writtenReply(provider: string | undefined): WrittenReply | undefined {
  return provider !== undefined && hidesWhatWasWritten(provider) ? new WrittenReply() : undefined;
}

interface WrittenCall {
  readonly id: unknown;
  name: string;
  text: string;
}

/** The calls and the end of a reply in the provider's raw chunks. */
export class WrittenReply {
  /** True if the provider gave a reason for the end of the reply. Undefined until a chunk comes: older packages give none. */
  hasEnded: boolean | undefined;
  private readonly calls = new Map<unknown, WrittenCall>();

  /** Takes the next chunk. */
  read(chunk: unknown): void {
    const choice = isJsonObject(chunk) ? choiceOf(chunk) : undefined;
    if (choice === undefined) return;
    this.hasEnded = this.hasEnded === true || reasonIn(choice) !== undefined;
    const { delta } = choice;
    for (const piece of isJsonObject(delta) ? callPieces(delta) : []) {
      if (!isJsonObject(piece)) continue;
      const { index = 0, id, function: called } = piece;
      const call = this.calls.get(index) ?? { id, name: "", text: "" };
      this.calls.set(index, call);
      const { name, arguments: text } = asObject(called);
      if (typeof name === "string" && call.name === "") call.name = name;
      if (typeof text === "string") call.text += text;
    }
  }

  /**
   * Takes the arguments of a call, once: the package gives the second call of an id another id, and its arguments are those of the first
   * remaining call of its name. Undefined if the provider wrote none.
   */
  take(id: string, name: string | undefined): string | undefined {
    const left = [...this.calls];
    const found = left.find(([, call]) => call.id === id) ?? left.find(([, call]) => call.name === name);
    if (found === undefined) return undefined;
    const [index, { text }] = found;
    this.calls.delete(index);
    return text === "" ? undefined : text;
  }
}
