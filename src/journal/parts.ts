import { type IntentPart, intentParts } from "../policy/knowledge/intent.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { fingerprint } from "../util/hash.ts";
import { isJsonObject, type Json, parseJson } from "../util/json.ts";

const ownParts = [
  "model",
  "instructions",
  "messages",
  "settings",
  "skills",
  "members",
  "input",
  "tool",
  "arguments",
] as const;

/** A part of what a step is asked. */
export type RecordPart = IntentPart | (typeof ownParts)[number];

/** The parts of what steps are asked, each of which a record knows by a hash. */
export const recordParts: readonly RecordPart[] = [...intentParts, ...ownParts];

/** The text by which a record of a step is recognised: a small hash for each part of what it is asked, and nothing in clear. */
export function partsText(parts: Readonly<Partial<Record<RecordPart, Json>>>): string {
  return joinedParts(Object.entries(parts).map(([part, value]) => partText(part, value)));
}

/** The text of one part: what many steps are asked alike has its hash made once. */
export function partText(part: string, value: Json): string {
  return `"${part}":"${fingerprint(canonicalJson(value))}"`;
}

/** The text of parts that have theirs. */
export function joinedParts(parts: readonly string[]): string {
  return `{${parts.join(",")}}`;
}

/** The parts in which what a step is asked differs from what it was. A text that names no parts is one, `request`. */
export function partsChanged(was: string, is: string): readonly string[] {
  if (was === is) return [];
  const [before, now] = [readParts(was), readParts(is)];
  if (before === undefined || now === undefined) return ["request"];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (part) => before[part] !== now[part],
  );
}

function readParts(text: string): Readonly<Record<string, Json | undefined>> | undefined {
  const json = parseJson(text);
  return json.ok && isJsonObject(json.value) ? json.value : undefined;
}
