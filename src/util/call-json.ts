import { type ParsedJson, parseJson } from "./json.ts";

/**
 * Reads JSON that a model wrote as a call, as {@link parseJson} does, and refuses an object that has a key twice: readers take the one or the other of two, so
 * that what is checked might not be what runs. Never throws.
 */
export function parseCallJson(text: string): ParsedJson {
  const parsed = parseJson(text);
  if (!parsed.ok || typeof parsed.value !== "object") return parsed;
  const twice = repeatedKey(text);
  return twice === undefined ? parsed : { ok: false, reason: keyTwice(twice) };
}

/** The reason to refuse an object that has a key twice. */
export function keyTwice(key: string): string {
  return `it has the key ${JSON.stringify(key)} twice in one object`;
}

/** True of such a reason. */
export function isKeyTwice(reason: string): boolean {
  return /^it has the key ".*" twice in one object$/s.test(reason);
}

/** The first key that occurs twice in one object of a text of JSON, `deepest` objects deep at most. */
export function repeatedKey(text: string, deepest: number = Infinity): string | undefined {
  const signs = /["{}]/g;
  const open: Set<string>[] = [];
  for (let match = signs.exec(text); match !== null; match = signs.exec(text)) {
    if (match[0] === "{") open.push(new Set());
    else if (match[0] === "}") open.pop();
    else {
      const end = endOfString(text, match.index);
      signs.lastIndex = end;
      colon.lastIndex = end;
      if (open.length > deepest || !colon.test(text)) continue;
      const key = String(JSON.parse(text.slice(match.index, end)));
      const keys = open.at(-1);
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    }
  }
  return undefined;
}

const colon = /\s*:/y;

/** The index after the quote that closes the string opened at `start`. */
function endOfString(text: string, start: number): number {
  const marks = /["\\]/g;
  marks.lastIndex = start + 1;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') return marks.lastIndex;
    marks.lastIndex += 1;
  }
  return text.length;
}
