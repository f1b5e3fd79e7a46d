import { parseJson } from "../util/json.ts";
import { stringPieces } from "../util/string-pieces.ts";
import type { TurnInput } from "./driver.ts";
import type { JsonSettings } from "./json-settings.ts";
import { shapeOf } from "./reply-shape.ts";

/** The beginning of a reply of the dialect `action`, up to the first letter of an answer that is a text. */
const beginning =
  /^\s*\{[ \t\n\r]*(?:"thought"[ \t\n\r]*:[ \t\n\r]*("(?:[^"\\]|\\.)*")[ \t\n\r]*,[ \t\n\r]*)?"final"[ \t\n\r]*:[ \t\n\r]*\{[ \t\n\r]*"content"[ \t\n\r]*:[ \t\n\r]*"/s;

/** The most characters of such a beginning, so that a piece costs what its length costs. An answer behind a longer one comes at the end of the reply. */
const longest = 2000;

/**
 * Follows a reply of the dialect `action`: returns what each piece adds to an answer that is a text. Only a strict reading is followed: the others may find
 * calls in a reply with a fault, and another answer. An answer in JSON comes at the end of the reply.
 */
export function framedAnswer(settings: JsonSettings): (turn: TurnInput) => (piece: string) => string {
  return (turn) => {
    const { mayAnswer, output = {} } = shapeOf(turn);
    const isText = (output["type"] ?? "string") === "string";
    return settings.mode === "strict" && mayAnswer && isText ? textIn(settings) : nothing;
  };
}

const nothing = (): string => "";

function textIn(settings: JsonSettings): (piece: string) => string {
  let head = "";
  const begin = (piece: string): string => {
    head += piece;
    const [match, thought] = beginning.exec(head.slice(0, longest)) ?? [];
    if (match === undefined) {
      if (head.length >= longest) follow = nothing;
      return "";
    }
    follow = isThought(thought, settings) ? stringPieces() : nothing;
    return follow(head.slice(match.length));
  };
  let follow = begin;
  return (piece) => follow(piece);
}

/** True if the reading takes this thought, written as JSON. */
function isThought(
  written: string | undefined,
  { maxThought, longThought }: Pick<JsonSettings, "maxThought" | "longThought">,
): boolean {
  if (written === undefined) return true;
  const read = parseJson(written);
  if (!read.ok || typeof read.value !== "string") return false;
  return longThought === "cut" || read.value.length <= maxThought;
}
