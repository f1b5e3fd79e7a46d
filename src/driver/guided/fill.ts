import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { assign, type Doubt, type Filled, isSame } from "./assign.ts";
import { itemType } from "./fit.ts";
import type { Mention } from "./mentions.ts";
import { namedValues } from "./named-values.ts";
import { type Slot, slotsOf } from "./slots.ts";
import type { Wording } from "./words.ts";

/** The values of a call, as far as the program finds them. */
export interface Filling {
  readonly tool: Tool;
  readonly filled: readonly Filled[];
  /** Slots that have a value already, for which another one is as good. */
  readonly doubts: readonly Doubt[];
  /** Required slots of which nothing is said: the model writes them. */
  readonly missing: readonly Slot[];
}

/** Finds the values of a call in what was said. "Paris, France" is one value, or two where two are needed. */
export function fill(tool: Tool, said: Wording, mentions: readonly Mention[]): Filling {
  const filling = fillWith(
    tool,
    said,
    mentions.filter(({ region }) => region !== "part"),
  );
  if (filling.missing.length === 0 || !mentions.some(({ region }) => region === "part")) return filling;
  const apart = fillWith(
    tool,
    said,
    mentions.filter(({ region }) => region !== "whole"),
  );
  return apart.missing.length < filling.missing.length ? apart : filling;
}

function fillWith(tool: Tool, said: Wording, mentions: readonly Mention[]): Filling {
  const slots = slotsOf(tool, said.language);
  const named = namedValues(slots, said);
  const open = slots.filter((slot) => !named.some((each) => each.slot === slot));
  const { filled, doubts } = assign(open, mentions, said.language);
  const all = [...named, ...filled];
  const missing = open.filter((slot) => slot.isRequired && !all.some((each) => each.slot === slot));
  return { tool, filled: all, doubts, missing };
}

/**
 * The gate: a call needs its values. True for a tool whose required numbers were not all said, and for one whose examples show
 * an id of a form that nothing said has.
 */
export function lacksValues({ missing }: Filling): boolean {
  return missing.some((slot) => {
    const type = itemType(slot);
    if (type === "number" || type === "integer") return true;
    return (
      type === "string" && slot.takes === undefined && slot.examples.some((example) => /\d/.test(example))
    );
  });
}

/** The filling with another value for a slot; a slot that had it takes the one that is free then. */
export function withValue(
  filling: Filling,
  slot: Slot,
  chosen: { readonly value: Json; readonly from: Mention },
): Filling {
  const before = filling.filled.find((each) => each.slot === slot);
  const holder = filling.filled.find(
    (each) => each.slot !== slot && each.from.some((used) => isSame(used, chosen.from)),
  );
  const filled = filling.filled.map((each): Filled => {
    if (each.slot === slot) return { slot, value: chosen.value, from: [chosen.from] };
    if (each === holder && before !== undefined) return { ...each, value: before.value, from: before.from };
    return each;
  });
  return { ...filling, filled };
}

/** The arguments that these values make: each at its path, in the order of the schema. */
export function argumentsOf(tool: Tool, filled: readonly Filled[]): JsonObject {
  const made: Record<string, Json> = {};
  for (const { slot, value } of filled.toSorted((one, other) => order(tool, one) - order(tool, other)))
    put(made, slot.path, value);
  return made;
}

function order({ input }: Tool, { slot }: Filled): number {
  const { properties } = input.jsonSchema;
  return isJsonObject(properties) ? Object.keys(properties).indexOf(slot.path[0] ?? "") : 0;
}

function put(into: Record<string, Json>, [name = "", ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    into[name] = value;
    return;
  }
  const inner: Record<string, Json> = { ...(isJsonObject(into[name]) ? into[name] : {}) };
  put(inner, rest, value);
  into[name] = inner;
}
