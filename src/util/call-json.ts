import { endOfString } from "./end-of-string.ts";
import { isJsonObject, type Json, type ParsedJson, parseJson } from "./json.ts";

/** A key that an object of a text has for the second time, and where it stands in the text. */
interface TwiceKey {
  readonly key: string;
  readonly at: number;
}

/** The value of a text, or why the text has none; `twice` is the key that stands twice in one object, where that is the reason. */
type ParsedCall = ParsedJson | { readonly ok: false; readonly reason: string; readonly twice: TwiceKey };

/**
 * Reads JSON that decides something, as the call of a model, as {@link parseJson} does, and refuses an object that has a key twice: readers take the one or the other of two, so
 * that what is checked might not be what runs. Never throws.
 */
export function parseCallJson(text: string): ParsedCall {
  const parsed = parseJson(text);
  if (!parsed.ok || typeof parsed.value !== "object") return parsed;
  const hasEachKeyOnce = colonsIn(text) === keysIn(parsed.value); // of two equal keys a value has one
  const twice = hasEachKeyOnce ? undefined : repeatedKey(text);
  return twice === undefined ? parsed : { ok: false, reason: keyTwice(twice.key), twice };
}

/** The colons of a text, those inside of its strings too. */
function colonsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) count += 1;
  return count;
}

function keysIn(value: Json): number {
  let count = 0;
  if (Array.isArray(value)) for (const each of value) count += keysIn(each);
  else if (isJsonObject(value)) for (const key in value) count += 1 + keysIn(value[key] ?? null);
  return count;
}

/** The reason to refuse an object that has a key twice. */
export function keyTwice(key: string): string {
  return `it has the key ${JSON.stringify(key)} twice in one object`;
}

/** The first key that occurs twice in one object of a text of JSON, `deepest` objects deep at most. */
export function repeatedKey(text: string, deepest: number = Infinity): TwiceKey | undefined {
  const signs = /["{}]/g;
  const open: Set<string>[] = [];
  for (let match = signs.exec(text); match !== null; match = signs.exec(text)) {
    if (match[0] === "{") open.push(new Set());
    else if (match[0] === "}") open.pop();
    else {
      const end = endOfString(text, match.index) ?? text.length;
      signs.lastIndex = end;
      colon.lastIndex = end;
      if (open.length > deepest || !colon.test(text)) continue;
      const key = String(JSON.parse(text.slice(match.index, end)));
      const keys = open.at(-1);
      if (keys?.has(key) === true) return { key, at: match.index };
      keys?.add(key);
    }
  }
  return undefined;
}

const colon = /\s*:/y;
