import {
  callsOf,
  isAsked,
  type ResultMessage,
  sinceAsked,
  textOf,
  type ToolCall,
} from "../../message/message.ts";
import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import type { TurnInput } from "../driver.ts";
import { type Mention, mentionsIn, mentionsOfResult } from "./mentions.ts";
import { rated } from "./choose-tool.ts";
import { type Word, type Wording, wordsIn } from "./words.ts";

/** A call that was made for the request, with its result. */
export interface MadeCall {
  readonly call: ToolCall;
  readonly result: ResultMessage;
  readonly tool: Tool | undefined;
}

/** The start of a turn: the request, and the calls made for it so far. */
export interface Scene {
  readonly said: Wording;
  /** Values of the request that no call used. */
  readonly fromRequest: readonly Mention[];
  /** Values of results that no later call used, those of the last result first. */
  readonly fromResults: readonly Mention[];
  readonly made: readonly MadeCall[];
  /** Words of the request that no call was made for. */
  readonly open: readonly Word[];
}

/** Reads the scene of a turn. */
export function sceneOf({ transcript, allowed }: Pick<TurnInput, "transcript" | "allowed">): Scene {
  const messages = sinceAsked(transcript.messages);
  const request = messages.find(isAsked);
  const said = wordsIn(request === undefined ? "" : textOf(request));
  const results = messages.filter((message) => message.role === "tool");
  const made = messages.flatMap((message): MadeCall[] => {
    if (message.role !== "assistant") return [];
    return callsOf(message).flatMap((call): MadeCall[] => {
      const result = results.find(({ callId }) => callId === call.id);
      return result === undefined ? [] : [{ call, result, tool: allowed.tools.get(call.name) }];
    });
  });
  const requested = mentionsIn(said.text, 0, said.language);
  const fromResults = made.flatMap(({ result }, index) => {
    if (result.status !== "ok") return [];
    const later = made.slice(index + 1);
    return mentionsOfResult(result.text, index + 1, said.language).filter(
      (mention) => !isUsed(mention, later),
    );
  });
  const used = requested.filter((mention) => isUsed(mention, made));
  return {
    said,
    fromRequest: requested.filter((mention) => !used.some((other) => overlaps(other, mention))),
    fromResults: fromResults.toSorted((one, other) => other.source - one.source),
    made,
    open: openWords(said, made, used),
  };
}

const isUsed = (mention: Mention, by: readonly MadeCall[]): boolean =>
  by.some(({ call }) =>
    leavesOf(call.arguments).some((leaf) => leaf === mention.value || leaf === mention.text),
  );

const overlaps = (one: Mention, other: Mention): boolean => one.start < other.end && other.start < one.end;

/** The texts and numbers in a value. */
export function leavesOf(value: Json): readonly (string | number)[] {
  if (typeof value === "string" || typeof value === "number") return [value];
  if (Array.isArray(value)) return value.flatMap((each: Json) => leavesOf(each));
  return isJsonObject(value) ? Object.values(value).flatMap(leavesOf) : [];
}

/** Each call was made for one of the places at which a word of its tool stands; a value that was used is no word. */
function openWords(said: Wording, made: readonly MadeCall[], used: readonly Mention[]): readonly Word[] {
  let open =
    made.length === 0
      ? said.words
      : said.words.filter(
          (word) => !used.some((mention) => mention.start <= word.start && word.end <= mention.end),
        );
  for (const { tool } of made) {
    const [own] = tool === undefined ? [] : rated([tool], said, open);
    const first = new Map<string, Word>();
    for (const word of own?.words ?? []) if (!first.has(word.stem)) first.set(word.stem, word);
    const taken = new Set(first.values());
    open = open.filter((word) => !taken.has(word));
  }
  return open;
}
