import type { Delta } from "../../model/model.ts";
import type { JsonObject } from "../../util/json.ts";
import { asObject, plain, withTexts } from "./sent-request.ts";

/** A piece of a text, and its place among the deltas of the reply. */
interface Piece {
  readonly place: number;
  readonly text: string;
}

/**
 * The deltas of a reply as they are kept, with each text as `written` gives it. A secret may come in several pieces: where `written` changes the
 * text that pieces make together, the first of them has all of it.
 */
export function keptReply(reply: readonly Delta[], written: (text: string) => string): readonly JsonObject[] {
  const kept = reply.map((delta) => asObject(withTexts(plain(delta), written)));
  for (const pieces of textsIn(reply)) {
    const whole = written(pieces.map(({ text }) => text).join(""));
    if (pieces.map(({ text }) => written(text)).join("") === whole) continue;
    for (const [index, { place }] of pieces.entries())
      kept[place] = { ...kept[place], text: index === 0 ? whole : "" };
  }
  return kept;
}

/** The texts of a reply in their pieces: those of a call or a block by its name, others as long as nothing else comes between. */
function textsIn(reply: readonly Delta[]): Iterable<readonly Piece[]> {
  const texts = new Map<string, Piece[]>();
  let begun = 0;
  for (const [place, delta] of reply.entries()) {
    if (delta.type !== reply[place - 1]?.type) begun = place;
    if (!("text" in delta)) continue;
    const name = delta.type === "call-delta" ? delta.id : (delta.block ?? `from ${begun}`);
    const key = `${delta.type} ${name}`;
    const pieces = texts.get(key) ?? [];
    texts.set(key, pieces);
    pieces.push({ place, text: delta.text });
  }
  return texts.values();
}
