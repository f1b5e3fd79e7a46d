import { isJsonObject, type Json } from "../../util/json.ts";

/** A character that people do not see, or that changes the order of visible ones. */
export interface HiddenCharacter {
  /** The code point: `U+200B`. */
  readonly codePoint: string;
  /** Its place in the text, from 0. */
  readonly index: number;
}

/** Controls, formats (including bidirectional ones and tags), private characters, lone surrogates, and everything drawn as nothing. */
const hidden =
  /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;
const drawnBefore = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\u{FE0F}?$/u;
const drawnAfter = /^\p{Extended_Pictographic}/u;
/** Scripts in which a joiner between letters separates or connects them. */
const joining =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Khmer}\p{Script=Mongolian}]$/u;

/** The first hidden character of a text for readers. Characters that belong to an emoji, or join letters of Arabic and Indic scripts, do not count. */
export function hiddenIn(text: string): HiddenCharacter | undefined {
  for (const match of text.matchAll(hidden)) if (!isWriting(text, match)) return found(match[0], match.index);
  return undefined;
}

/** The first hidden character of a name, where none has a use. */
export function hiddenInName(name: string): HiddenCharacter | undefined {
  const match = /[\t\n\r]/.exec(name) ?? name.matchAll(hidden).next().value;
  return match === undefined || match === null ? undefined : found(match[0], match.index);
}

/** The first hidden character among all keys and texts of a value, with its path. */
export function hiddenInside(
  value: Json,
  path = "",
): (HiddenCharacter & { readonly path: string }) | undefined {
  if (typeof value === "string") {
    const character = hiddenIn(value);
    return character === undefined ? undefined : { ...character, path };
  }
  if (Array.isArray(value)) return firstOf(value.map((entry: Json, index) => [entry, `${path}[${index}]`]));
  if (!isJsonObject(value)) return undefined;
  for (const key of Object.keys(value)) {
    const character = hiddenInName(key);
    if (character !== undefined) return { ...character, path: `a name in ${path}` };
  }
  return firstOf(Object.entries(value).map(([key, field]) => [field, path === "" ? key : `${path}.${key}`]));
}

function firstOf(places: readonly (readonly [value: Json, path: string])[]): ReturnType<typeof hiddenInside> {
  for (const [value, path] of places) {
    const character = hiddenInside(value, path);
    if (character !== undefined) return character;
  }
  return undefined;
}

function isWriting(text: string, match: RegExpExecArray): boolean {
  const [character] = match;
  const before = text.slice(Math.max(0, match.index - 4), match.index);
  const after = text.slice(match.index + character.length, match.index + character.length + 2);
  if (character === "\u{FE0F}" || character === "\u{FE0E}")
    return /[\d#*]$/.test(before)
      ? after.startsWith("\u{20E3}")
      : /[\p{Extended_Pictographic}]$/u.test(before);
  if (character === "\u{200D}" && drawnAfter.test(after)) return drawnBefore.test(before);
  return (character === "\u{200D}" || character === "\u{200C}") && joining.test(before);
}

function found(character: string, index: number): HiddenCharacter {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return { codePoint: `U+${hex}`, index };
}

/** Scripts that are used together, by the "highly restrictive" level of Unicode's TR 39; a name has letters of one line. */
const together: readonly RegExp[] = [
  /^[\p{Script_Extensions=Latin}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Common}\p{scx=Inherited}]*$/u,
  /^[\p{Script_Extensions=Latin}\p{scx=Han}\p{scx=Hangul}\p{scx=Common}\p{scx=Inherited}]*$/u,
  /^[\p{Script_Extensions=Latin}\p{scx=Han}\p{scx=Bopomofo}\p{scx=Common}\p{scx=Inherited}]*$/u,
  ...[
    "Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada",
    "Khmer Lao Malayalam Mongolian Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan",
  ]
    .join(" ")
    .split(" ")
    .map((script) => new RegExp(String.raw`^[\p{scx=${script}}\p{scx=Common}\p{scx=Inherited}]*$`, "u")),
];

/** True for a name with letters of scripts that are not used together, like Latin and Cyrillic. */
export function mixesScripts(name: string): boolean {
  return !together.some((pattern) => pattern.test(name));
}
