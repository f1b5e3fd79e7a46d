import type { ValueType } from "../../tool/parameters.ts";
import { asObject, isJsonList, type Json, type JsonObject } from "../../util/json.ts";

/** A value in a text, with its kind by its form. Plain patterns find it, so that the evaluation does not judge a policy with the policy's own code. */
export interface FoundValue {
  readonly type: ValueType;
  readonly value: string | number;
}

/** The kinds of values that name the receiver of a call. */
export const addressTypes = ["email", "url", "iban", "phone"] as const;

/** One of {@link addressTypes}. */
export type AddressType = (typeof addressTypes)[number];

/** True for one of {@link addressTypes}. */
export function isAddressType(type: ValueType): type is AddressType {
  return addressTypes.some((known) => known === type);
}

const patterns: Readonly<Record<AddressType | "date" | "path", RegExp>> = {
  email: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/gu,
  url: /(?:https?:\/\/|\bwww\.)[^\s"'<>()[\]{}]{1,500}/gu,
  iban: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){8,30}\b/gu,
  phone: /\+\d[\d ()-]{6,18}\d/gu,
  date: /\b\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?/gu,
  path: /[\w/-]{1,100}\.[a-z][a-z0-9]{1,4}\b/gu,
};

/** The longest text that is searched to its end. */
const longestText = 20_000;

/** The addresses in a text, in the order of the text. */
export function addressesIn(text: string): readonly (FoundValue & { readonly type: AddressType })[] {
  const read = text.slice(0, longestText);
  const found = addressTypes.flatMap((type) =>
    [...read.matchAll(patterns[type])].map((match) => ({
      type,
      value: match[0].replace(/[.,;:!?]+$/, ""),
      index: match.index,
    })),
  );
  return found.toSorted((a, b) => a.index - b.index).map(({ type, value }) => ({ type, value }));
}

/**
 * Finds the values in a text, each once: addresses, dates, numbers, files, quoted words, words with a capital
 * letter or a `#`.
 */
export function literalsIn(text: string): readonly FoundValue[] {
  const read = text.slice(0, longestText);
  const all = (type: ValueType, pattern: RegExp): FoundValue[] =>
    [...read.matchAll(pattern)].map((match) => ({ type, value: match[1] ?? match[0] }));
  return unique([
    ...addressesIn(read),
    ...all("date", patterns.date),
    ...all("path", patterns.path),
    ...all("text", /["“`]([^"”`\n]{1,200})["”`]/gu),
    ...all("text", /(?<!\w)'([^'\n]{1,200})'(?!\w)/gu),
    ...all("identifier", /#\w[\w-]{0,60}/gu),
    ...all("identifier", /(?<![\w.@/-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}\p{L})[\w-]{2,40}(?![\w@])/gu),
    ...all("text", /\b\p{Lu}[\p{L}\p{N}]{1,40}(?: \p{Lu}[\p{L}\p{N}]{1,40}){0,3}(?![\w-])/gu),
    ...[...read.matchAll(/(?<![\w.-])\d{1,12}(?:\.\d{1,6})?(?![\w-])/gu)].map((match) => ({
      type: "number" as const,
      value: Number(match[0]),
    })),
  ]);
}

/** The plain values in JSON, and the values in its texts. */
export function valuesIn(json: Json): readonly FoundValue[] {
  return unique(
    leavesOf(json).flatMap(({ value }): readonly FoundValue[] => {
      if (typeof value === "number") return [{ type: "number", value }];
      if (typeof value !== "string" || value === "") return [];
      const own = value.length <= 200 && !value.includes("\n") ? [{ type: typeOf(value), value }] : [];
      return [...own, ...literalsIn(value)];
    }),
  );
}

/** A plain value somewhere in JSON, with its path. */
export interface Leaf {
  readonly path: readonly (string | number)[];
  readonly value: string | number | boolean | null;
}

/** The plain values of JSON with their paths, in the order of their fields. */
export function leavesOf(json: Json | undefined, path: readonly (string | number)[] = []): readonly Leaf[] {
  if (json === undefined) return [];
  if (typeof json !== "object" || json === null) return [{ path, value: json }];
  const entries: readonly (readonly [string | number, Json])[] = isJsonList(json)
    ? [...json.entries()]
    : Object.entries(json);
  return entries.flatMap(([key, value]) => leavesOf(value, [...path, key]));
}

/** The kind of a whole text, by its form. */
export function typeOf(text: string): ValueType {
  const type = (["email", "url", "iban", "phone", "date", "path"] as const).find((name) => {
    const [first] = text.trim().matchAll(patterns[name]);
    return first !== undefined && first[0].length === text.trim().length;
  });
  if (type !== undefined) return type;
  return /^#?[\w-]{1,40}$/.test(text) && /\d|#/.test(text) ? "identifier" : "text";
}

function unique(values: readonly FoundValue[]): readonly FoundValue[] {
  const seen = new Set<string>();
  return values.filter(({ type, value }) => {
    const key = `${type} ${typeof value} ${value}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

/** The host of a stranger's addresses. */
const stranger = "attacker.example";

/**
 * Values of somebody else's that contain a value of the user's, or nearly: a policy that compares parts of texts takes them for the user's own.
 * None for kinds of which no look-alike can be made.
 */
export function lookAlikes({ type, value }: FoundValue): readonly FoundValue[] {
  const text = String(value);
  switch (type) {
    case "number":
      return typeof value === "number" && value !== 0 ? [{ type, value: value * 10 }] : [];
    case "email":
      return [`${text}.${stranger}`, `${text}@${stranger}`, `"${text}"@${stranger}`].map(as(type));
    case "url":
      return [
        text.replace(/^((?:https?:\/\/)?[^/?#]+)/, `$1.${stranger}`),
        `https://${stranger}/?next=${text}`,
      ].map(as(type));
    case "iban":
    case "phone":
      return [text.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10))].map(as(type));
    case "identifier":
    case "path":
      return [`${text}0`, `../${text}`].map(as(type));
    case "host":
    case "date":
    case "text":
    default:
      return [];
  }
}

function as(type: FoundValue["type"]): (value: string) => FoundValue {
  return (value) => ({ type, value });
}

/** The arguments with the value at a path replaced; undefined removes it from its object. */
export function withValue(
  args: JsonObject,
  [key = "", ...rest]: Leaf["path"],
  value: Json | undefined,
): JsonObject {
  const { [key]: old = null, ...others } = args;
  return rest.length === 0 && value === undefined ? others : { ...args, [key]: replaced(old, rest, value) };
}

/** The name of the field that a value is in, also if the value is one of a list. */
export function fieldOf(path: Leaf["path"]): string {
  return path.findLast((key) => typeof key === "string") ?? "";
}

/** JSON with the value at a path replaced. */
export function replaced(json: Json, path: Leaf["path"], value: Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? null;
  if (isJsonList(json))
    return json.map((each, index) => (index === key ? replaced(each, rest, value) : each));
  return withValue(asObject(json), path, value);
}
