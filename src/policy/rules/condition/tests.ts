import { assertNever } from "../../../util/assert-never.ts";
import type { Json } from "../../../util/json.ts";
import { remembered } from "../../../util/remembered.ts";
import { sameJson } from "../../../util/same-json.ts";
import { isAbsent, type Leaf } from "./values.ts";
import { isWithinHost, placeOf } from "./hosts.ts";
import type { ValueTest } from "../rule.ts";
import { compatible } from "../../values/normal.ts";

/** True if something holds; undefined when it cannot be said. */
export type Truth = boolean | undefined;

/** True if a value is the user's own choice. May throw. */
export type IsBound = (leaf: Leaf, as: Extract<ValueTest, { type: "bound" }>["as"]) => Truth;

/**
 * True if one value passes a test. Undefined for no JSON, and for a value of another kind than the test's.
 */
export function passes(leaf: Leaf, test: ValueTest, isBound: IsBound): Truth {
  if (leaf.isOdd) return undefined;
  switch (test.type) {
    case "absent":
      return isAbsent(leaf);
    case "bound":
      return isAbsent(leaf) || isBound(leaf, test.as);
    case "one-of":
      return isOneOf(leaf, test.values);
    case "within":
      if (isAbsent(leaf)) return false;
      return typeof leaf.value === "number" ? isWithin(leaf.value, test) : undefined;
    case "host-in":
      return isAbsent(leaf) ? false : isHostIn(leaf.value, test.hosts);
    default:
      return assertNever(test);
  }
}

/** All hold; one that cannot be said leaves the whole unsaid, unless another does not hold. */
export function every<Item>(items: readonly Item[], judge: (item: Item) => Truth): Truth {
  let sum: Truth = true;
  for (const item of items) {
    const truth = judge(item);
    if (truth === false) return false;
    if (truth === undefined) sum = undefined;
  }
  return sum;
}

/** One holds; one that cannot be said leaves the whole unsaid, unless another holds. */
export function some<Item>(items: readonly Item[], judge: (item: Item) => Truth): Truth {
  return negated(every(items, (item) => negated(judge(item))));
}

export function negated(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth;
}

/** Values as they look to people. Depends on: the list, which a policy keeps; the value of the call. */
const foldedList = remembered((values: readonly Json[]) => new Set(values.map(fold)));
const foldedLeaf = remembered(({ value }: Leaf) => fold(value));

function isOneOf(leaf: Leaf, values: readonly Json[]): Truth {
  if (values.some((each) => sameJson(each, leaf.value))) return true;
  const folded = foldedLeaf(leaf);
  return folded !== "" && foldedList(values).has(folded) ? undefined : false;
}

/** Values that people, and careless programs, take for the same. */
function fold(value: Json): string {
  if (typeof value !== "string") return typeof value === "object" ? "" : String(value);
  return compatible(value)
    .replaceAll(/[\p{C}\p{Z}\p{M}]/gu, "")
    .toLowerCase();
}

function isWithin(
  value: number,
  { min = -Infinity, max = Infinity }: { min?: number; max?: number },
): boolean {
  return value >= min && value <= max;
}

function isHostIn(value: Json, hosts: readonly string[]): Truth {
  const place = typeof value === "string" ? placeOf(value) : undefined;
  if (place === undefined) return undefined;
  return hosts.some((pattern) => isWithinHost(place.host, pattern));
}
