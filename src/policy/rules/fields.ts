import { WritError } from "../../error/writ-error.ts";
import type { Json } from "../../util/json.ts";
import { boolean, finite, fits, kindOf, oneOf, record, type Shape, string } from "../../util/shape.ts";

/** Where in a policy somebody reads. */
export interface Place {
  /** The name of the policy, as far as it is known. */
  readonly policy: string;
  /** `rules[2].when.of[0]`. */
  readonly path: string;
  readonly depth: number;
}

/** Deeper conditions are nobody's wish, and readers that go down with them would overflow their stacks. */
const deepest = 32;
const longest = 10_000;

/** @throws WritError `policy-invalid` always: what stands there cannot be used, because of this. */
export function wrong({ policy, path }: Place, reason: string): never {
  throw new WritError("policy-invalid", { name: policy, reason: `\`${path}\` ${reason}` });
}

/** The place of a field or an element. */
export function inside(place: Place, step: string | number): Place {
  const { policy, path, depth } = place;
  if (depth >= deepest) return wrong(place, `is nested deeper than ${deepest} levels`);
  const plain = typeof step === "string" && /^[a-zA-Z]\w*$/.test(step);
  const part = plain ? `${path === "" ? "" : "."}${step}` : `[${JSON.stringify(step)}]`;
  return { policy, path: `${path}${part}`, depth: depth + 1 };
}

/** The own fields of a plain object that are not undefined, in a map: no getter is run, and no inherited field is ever seen. */
export function entriesOf(value: unknown, place: Place): ReadonlyMap<string, unknown> {
  const object = fitting(value, place, record);
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== null && prototype !== Object.prototype) return wrong(place, "must be a plain object");
  const fields = new Map<string, unknown>();
  for (const key of Object.keys(object)) {
    const field = plainField(object, key, place);
    if (field !== undefined) fields.set(key, field);
  }
  return fields;
}

/** The fields of an object that may have these fields and no others. */
export function fieldsOf(
  value: unknown,
  place: Place,
  known: readonly string[],
): ReadonlyMap<string, unknown> {
  const fields = entriesOf(value, place);
  for (const key of fields.keys())
    if (!known.includes(key))
      wrong(place, `has the unknown field ${JSON.stringify(key)}; known are ${known.join(", ")}`);
  return fields;
}

/** The elements of a list, read one by one. */
export function listOf<Item>(
  value: unknown,
  place: Place,
  read: (item: unknown, place: Place) => Item,
): readonly Item[] {
  if (!Array.isArray(value)) return wrong(place, `must be a list, got ${kindOf(value)}`);
  if (value.length > longest) return wrong(place, `has more than ${longest} elements`);
  const items: Item[] = [];
  for (let index = 0; index < value.length; index += 1) {
    const at = inside(place, index);
    items.push(read(plainField(value, String(index), at), at));
  }
  return Object.freeze(items);
}

/** A list with something in it. */
export function someOf<Item>(
  value: unknown,
  place: Place,
  read: (item: unknown, place: Place) => Item,
): readonly Item[] {
  const items = listOf(value, place, read);
  return items.length === 0 ? wrong(place, "must not be empty") : items;
}

/** A text with something in it. */
export function textOf(value: unknown, place: Place): string {
  const text = fitting(value, place, string);
  return text === "" ? wrong(place, "must not be empty") : text;
}

/** One of these words. */
export function wordOf<const Word extends string>(
  value: unknown,
  place: Place,
  words: readonly Word[],
): Word {
  return fitting(value, place, oneOf(...words));
}

/** True or false. */
export function truthOf(value: unknown, place: Place): boolean {
  return fitting(value, place, boolean);
}

/** A finite number. */
export function numberOf(value: unknown, place: Place): number {
  return fitting(value, place, finite);
}

function fitting<Value>(value: unknown, place: Place, shape: Shape<Value>): Value {
  return fits(shape, value) ? value : wrong(place, shape.misfit(value)?.reason ?? "");
}

/** A deep frozen copy of a JSON value. */
export function jsonOf(value: unknown, place: Place): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return numberOf(value, place);
  if (Array.isArray(value)) return listOf(value, place, jsonOf);
  const entries = [...entriesOf(value, place)].map(
    ([key, field]) => [key, jsonOf(field, inside(place, key))] as const,
  );
  return Object.freeze(Object.fromEntries(entries));
}

function plainField(value: object, key: string, place: Place): unknown {
  if (key === "__proto__") return wrong(place, 'has the field "__proto__", which is refused');
  const descriptor = Object.getOwnPropertyDescriptor(value, key);
  if (descriptor === undefined) return undefined;
  return "value" in descriptor
    ? descriptor.value
    : wrong(place, `has a getter for ${JSON.stringify(key)}, which is refused`);
}
