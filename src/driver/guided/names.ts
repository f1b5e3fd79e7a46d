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
    const place = withoutPossessive({ kind: "name", start: first.start, end }, text);
    const region = regionBehind(place, last, wording);
    if (region === undefined) found.push(place);
    else
      found.push(
        { ...place, end: region.end, region: "whole" },
        { ...place, region: "part" },
        { kind: "name", start: region.start, end: region.end, region: "part" },
      );
    index = region === undefined ? last : last + 1;
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

/** Behind "Paris" in "Paris, France" the region, where it is not the next member of a list. */
function regionBehind(place: Place, last: number, { text, words, language }: Wording): Word | undefined {
  const next = words[last + 1];
  if (next?.isCapital !== true || next.isFirst || next.isStop) return undefined;
  if (!/^, ?$/.test(text.slice(place.end, next.start))) return undefined;
  const behind = words[last + 2];
  const isNear = behind !== undefined && /^,? ?$/.test(text.slice(next.end, behind.start));
  const goesOn = isNear && (behind.isCapital || language?.and.has(behind.plain) === true);
  return goesOn ? undefined : next;
}
