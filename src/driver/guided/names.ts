import { type Place, withoutPossessive } from "./places.ts";
import type { Word, Wording } from "./words.ts";

/** Words with capitals one behind the other; small words of names may stand between. */
export function namesIn(wording: Wording): readonly Place[] {
  const { text, words } = wording;
  const found: Place[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const first = words[index];
    if (first === undefined || !beginsName(words, index)) continue;
    const last = lastOfName(index, wording);
    const end = words[last]?.end ?? first.end;
    found.push(withoutPossessive(withRegion({ kind: "name", start: first.start, end }, last, wording), text));
    index = last;
  }
  return found;
}

function beginsName(words: readonly Word[], index: number): boolean {
  const word = words[index];
  if (word === undefined || !word.isCapital) return false;
  if (!word.isFirst) return !word.isStop || /^\p{Lu}\p{Ll}/u.test(word.text);
  return !word.isStop && words[index + 1]?.isCapital === true;
}

/** The most small words between two words of a name: "Lord of the Rings". */
const mostBetween = 2;

function lastOfName(first: number, { text, words, language }: Wording): number {
  let last = first;
  for (let next = first + 1; next <= last + mostBetween + 1; next += 1) {
    const word = words[next];
    if (word === undefined || text.slice(words[next - 1]?.end, word.start) !== " ") break;
    if (word.isCapital || /^\d+$/.test(word.plain)) last = next;
    else if (language?.inNames.has(word.plain) !== true) break;
  }
  return last;
}

/** "Paris, France" is one place, where the region is not the next member of a list. */
function withRegion(place: Place, last: number, { text, words, language }: Wording): Place {
  const next = words[last + 1];
  if (next?.isCapital !== true || next.isFirst || next.isStop) return place;
  if (!/^, ?$/.test(text.slice(place.end, next.start))) return place;
  const behind = words[last + 2];
  const isNear = behind !== undefined && /^,? ?$/.test(text.slice(next.end, behind.start));
  const goesOn = isNear && (behind.isCapital || language?.and.has(behind.plain) === true);
  return goesOn ? place : { ...place, end: next.end };
}
