import { type IntentPart, intentParts } from "../policy/knowledge/intent.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { fingerprint } from "../util/hash.ts";
import { isJsonObject, type Json, parseJson } from "../util/json.ts";
import { mapped } from "../util/mapped.ts";

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

/** A part of a step's request. */
export type RecordPart = IntentPart | (typeof ownParts)[number];

/** The parts of steps' requests, each of which a record identifies by a hash. */
export const recordParts: readonly RecordPart[] = [...intentParts, ...ownParts];

/** The text by which a record of a step is recognised: a short hash for each part of its request, and nothing in clear. */
export function partsText(parts: Readonly<Partial<Record<RecordPart, Json>>>): string {
  return joinedParts(mapped(Object.entries(parts), ([part, value]) => partText(part, value)));
}

/** The text of one part. The hash of a part that many steps share is computed once. */
export function partText(part: string, value: Json): string {
  return `"${part}":"${fingerprint(canonicalJson(value))}"`;
}

/** The joined text of parts. */
export function joinedParts(parts: readonly string[]): string {
  return `{${parts.join(",")}}`;
}

/** The parts of a step's request that changed since the record. A text without named parts counts as one part, `request`. */
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
