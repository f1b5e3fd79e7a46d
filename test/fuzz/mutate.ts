import fc from "fast-check";
import { isJsonObject, type Json } from "../../src/util/json.ts";

/** A change of a JSON value: at a place that numbers lead to. */
export interface Change {
  readonly steps: readonly number[];
  readonly how: "set" | "remove" | "double" | "add";
  readonly value: Json;
}

export function change(value: fc.Arbitrary<Json>): fc.Arbitrary<Change> {
  return fc.record({
    steps: fc.array(fc.nat(12), { minLength: 1, maxLength: 6 }),
    how: fc.constantFrom("set", "set", "remove", "double", "add"),
    value,
  });
}

/** The value after all changes. */
export function changed(value: Json, changes: readonly Change[]): Json {
  return changes.reduce<Json>(
    (each, { steps, how, value: put }) => at(each, steps, (before) => altered(before, how, put)) ?? null,
    value,
  );
}

function altered(before: Json, how: Change["how"], value: Json): Json | undefined {
  if (how === "remove") return undefined;
  if (how === "double") return Array.isArray(before) ? [...before, ...before] : [before, before];
  if (how === "add") return isJsonObject(before) ? { ...before, extra: value } : value;
  return value;
}

function at(
  value: Json,
  [step, ...rest]: readonly number[],
  put: (before: Json) => Json | undefined,
): Json | undefined {
  if (step === undefined || typeof value !== "object" || value === null) return put(value);
  const keys = Object.keys(value);
  if (keys.length === 0) return put(value);
  const key = keys[step % keys.length] ?? "";
  const made = at((value as Readonly<Record<string, Json>>)[key] ?? null, rest, put);
  if (Array.isArray(value))
    return value.flatMap((each: Json, index) =>
      String(index) !== key ? [each] : made === undefined ? [] : [made],
    );
  const { [key]: _left, ...others } = value as Readonly<Record<string, Json>>;
  return made === undefined ? others : { ...others, [key]: made };
}
