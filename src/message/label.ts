import { isJsonObject, type Json } from "../util/json.ts";

/** `trusted`: the value comes from the user and the author alone. */
export type Integrity = "trusted" | "untrusted";

/**
 * Those who may learn a value: everybody, these readers (canonical e-mail addresses, hosts), or nobody
 * outside.
 */
export type Secrecy = "public" | "private" | { readonly readers: readonly string[] };

/**
 * The origin of a value and those who may learn it. Combined values have the join of their labels, which is
 * never higher than either.
 */
export interface Label {
  readonly integrity: Integrity;
  readonly secrecy: Secrecy;
  /** `tool/NAME`, `mcp/NAME`, `agent/NAME`, `client/NAME`, `memory/SLOT`, `history`, `input`; each once, in the order of their coming. None for what the user and the author wrote. */
  readonly sources: readonly string[];
}

/** The label of the words of the user and the author. */
export const trustedLabel: Label = Object.freeze({
  integrity: "trusted",
  secrecy: "public",
  sources: Object.freeze([]),
});

/** The label of a stranger's words from this source. */
export function untrustedFrom(source: string): Label {
  return { integrity: "untrusted", secrecy: "public", sources: [source] };
}

/**
 * The label of a value made of both: untrusted if one is, for those alone who may learn both, from all sources. Gives `first` itself where
 * `second` adds nothing, so that a long run makes no garbage.
 */
export function joinLabels(first: Label, second: Label): Label {
  if (first === second || second === trustedLabel) return first;
  const integrity = second.integrity === "untrusted" ? "untrusted" : first.integrity;
  const secrecy = joinSecrecy(first.secrecy, second.secrecy);
  const isKnown = second.sources.every((source) => first.sources.includes(source));
  if (integrity === first.integrity && secrecy === first.secrecy && isKnown) return first;
  const sources = isKnown ? first.sources : [...new Set([...first.sources, ...second.sources])];
  return { integrity, secrecy, sources };
}

type Bounded = Exclude<Secrecy, "public">;

/** Those alone who may learn both. The case of an address is none: people write it in either. */
export function joinSecrecy(first: Bounded, second: Bounded): Bounded;
export function joinSecrecy(first: Secrecy, second: Secrecy): Secrecy;
export function joinSecrecy(first: Secrecy, second: Secrecy): Secrecy {
  if (second === "public" || first === "private") return first;
  if (first === "public" || second === "private") return second;
  const others = new Set(second.readers.map((reader) => reader.toLowerCase()));
  const shared = first.readers.filter((reader) => others.has(reader.toLowerCase()));
  return shared.length === first.readers.length ? first : { readers: shared };
}

/** The label of a value that says too little for the text behind it: nobody speaks through it, and those alone may learn it who may learn the text. */
export function freshLabel({ secrecy, sources }: Label): Label {
  return secrecy === "public" ? trustedLabel : { integrity: "trusted", secrecy, sources };
}

/** True for a value that everybody may learn and that the user or the author wrote. */
export function isPlain({ integrity, secrecy }: Label): boolean {
  return integrity === "trusted" && secrecy === "public";
}

/** A value that carries its label, which a plain one is without. */
export function labelledAs<Value extends { readonly label?: Label }>(value: Value, label: Label): Value {
  return isPlain(label) ? value : { ...value, label };
}

/** A label that was kept as JSON; what cannot be read as one is a stranger's secret. */
export function readLabel(json: unknown): Label {
  if (isLabel(json)) return json;
  return { integrity: "untrusted", secrecy: "private", sources: ["unreadable"] };
}

/** Tells a whole label from any other value. */
export function isLabel(value: unknown): value is Label {
  if (!isJsonObject(value)) return false;
  const { integrity, secrecy, sources } = value;
  return (integrity === "trusted" || integrity === "untrusted") && isSecrecy(secrecy) && areTexts(sources);
}

function isSecrecy(value: Json | undefined): boolean {
  return value === "public" || value === "private" || (isJsonObject(value) && areTexts(value["readers"]));
}

function areTexts(value: Json | undefined): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
