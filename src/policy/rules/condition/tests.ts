import { assertNever } from "../../../util/assert-never.ts";
import type { Json } from "../../../util/json.ts";
import { remembered } from "../../../util/remembered.ts";
import { isAbsent, type Leaf } from "./values.ts";
import { isWithinHost, placeOf } from "./hosts.ts";
import type { ValueTest } from "../rule.ts";
import { compatible } from "../../values/normal.ts";

/** True if something holds; undefined if that cannot be decided. */
export type Truth = boolean | undefined;

/** True if a value is the user's own choice. May throw. */
export type IsBound = (leaf: Leaf, as: Extract<ValueTest, { type: "bound" }>["as"]) => Truth;

/** Decides whether a value passes a test. Undefined for a value that is not JSON or of another kind than the test's. May throw. */
type Passes = (leaf: Leaf, isBound: IsBound) => Truth;

/** Makes the judge of values by a test. */
export function testOf(test: ValueTest): Passes {
  const passes = ofJson(test);
  return (leaf, isBound) => (leaf.isOdd ? undefined : passes(leaf, isBound));
}

function ofJson(test: ValueTest): Passes {
  switch (test.type) {
    case "absent":
      return test.orDefault === true ? isLeftOut : isAbsent;
    case "bound":
      return (leaf, isBound) => isAbsent(leaf) || isBound(leaf, test.as);
    case "one-of":
      return oneOf(test.values);
    case "within": {
      const { min = -Infinity, max = Infinity } = test;
      return (leaf) => {
        if (isAbsent(leaf)) return false;
        return typeof leaf.value === "number" ? leaf.value >= min && leaf.value <= max : undefined;
      };
    }
    case "host-in":
      return (leaf) => (isAbsent(leaf) ? false : isHostIn(leaf.value, test.hosts));
    default:
      return assertNever(test);
  }
}

/** True for a value that says no more than a left-out argument. */
function isLeftOut(leaf: Leaf): boolean {
  return isAbsent(leaf) || leaf.isDefault === true;
}

/** True if all hold; undefined if one cannot be decided, unless another does not hold. */
export function every<Item>(items: readonly Item[], judge: (item: Item) => Truth): Truth {
  let sum: Truth = true;
  for (const item of items) {
    const truth = judge(item);
    if (truth === false) return false;
    if (truth === undefined) sum = undefined;
  }
  return sum;
}

/** True if one holds; undefined if one cannot be decided, unless another holds. */
export function some<Item>(items: readonly Item[], judge: (item: Item) => Truth): Truth {
  let sum: Truth = false;
  for (const item of items) {
    const truth = judge(item);
    if (truth === true) return true;
    if (truth === undefined) sum = undefined;
  }
  return sum;
}

export function negated(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth;
}

/** A value as people see it. Depends on: the value. */
const foldedLeaf = remembered(({ value }: Leaf) => fold(value));

/** Tests for one of these values; undefined for a value that only looks like one. A leaf is never a list or an object, so such entries match nothing. */
function oneOf(values: readonly Json[]): Passes {
  const exact = new Set(values);
  const alike = new Set(values.map(fold));
  alike.delete("");
  return (leaf) => exact.has(leaf.value) || (alike.has(foldedLeaf(leaf)) ? undefined : false);
}

/** The form of a value in which values that people, and careless programs, confuse are equal. */
function fold(value: Json): string {
  if (typeof value !== "string") return typeof value === "object" ? "" : String(value);
  return compatible(value)
    .replaceAll(/[\p{C}\p{Z}\p{M}]/gu, "")
    .toLowerCase();
}

function isHostIn(value: Json, hosts: readonly string[]): Truth {
  const place = typeof value === "string" ? placeOf(value) : undefined;
  if (place === undefined) return undefined;
  return hosts.some((pattern) => isWithinHost(place.host, pattern));
}
