import { asObject, isJsonObject, type Json, own } from "../util/json.ts";
import { listOf } from "./assertions.ts";
import type { Makers, Making } from "./maker.ts";
import { Marks, type Check, type Visit } from "./visit.ts";

/** The keywords with schemas inside, in the order in which their faults are told. `unevaluated…` look at what the others noted, and stand last. */
export const applicators: Makers = [
  ["$ref", (_held, { ends, judgeOf }) => referenceCheck(ends[0], judgeOf)],
  ["$dynamicRef", (_held, { ends, judgeOf }) => referenceCheck(ends.at(-1), judgeOf)],
  ["not", notCheck],
  ["anyOf", anyOfCheck],
  ["oneOf", oneOfCheck],
  ["allOf", allOfCheck],
  ["if", ifCheck],
  ["dependentSchemas", dependentSchemasCheck],
  ["prefixItems", prefixItemsCheck],
  ["items", itemsCheck],
  ["contains", containsCheck],
  ["propertyNames", propertyNamesCheck],
  ["additionalProperties", additionalPropertiesCheck],
  ["properties", propertiesCheck],
  ["patternProperties", patternPropertiesCheck],
  ["unevaluatedItems", unevaluatedItemsCheck],
  ["unevaluatedProperties", unevaluatedPropertiesCheck],
];

/** The check is made at the first value, since schemas lead back to themselves. */
function referenceCheck(end: Json = false, judgeOf: Making["judgeOf"]): Check {
  return (value, visit, marks) => judgeOf(end)(value, visit, marks);
}

function notCheck(held: Json, { judgeOf }: Making): Check {
  const judge = judgeOf(held);
  return (value, visit) =>
    !judge(value, visit.deciding) || visit.fault(() => "is what the schema forbids under `not`");
}

/** Counts the alternatives that fit: all of them where their marks are wanted, else up to `enough`. */
function countFits(branches: readonly Check[], enough: number): (...args: Parameters<Check>) => number {
  return (value, { deciding, work }, marks) => {
    let count = 0;
    for (const branch of branches) {
      const judged = marks && new Marks(work);
      if (!branch(value, deciding, judged)) continue;
      count += 1;
      if (judged !== undefined) marks?.add(judged, work);
      else if (count === enough) return count;
    }
    return count;
  };
}

function anyOfCheck(held: Json, { judgeOf }: Making): Check {
  const branches = listOf(held).map(judgeOf);
  const fitting = countFits(branches, 1);
  return (value, visit, marks) => fitting(value, visit, marks) > 0 || explain(branches, value, visit);
}

function oneOfCheck(held: Json, { judgeOf }: Making): Check {
  const branches = listOf(held).map(judgeOf);
  const fitting = countFits(branches, 2);
  return (value, visit, marks) => {
    const count = fitting(value, visit, marks);
    if (count > 1) return visit.fault(() => "fits more than one alternative");
    return count === 1 || explain(branches, value, visit);
  };
}

/** Notes what each alternative has against a value that fits none. Always false. */
function explain(branches: readonly Check[], value: unknown, visit: Visit): false {
  if (visit.explains) for (const branch of branches) branch(value, visit);
  return false;
}

function allOfCheck(held: Json, { judgeOf }: Making): Check {
  const parts = listOf(held).map(judgeOf);
  return (value, visit, marks) => visit.all(parts, (part) => part(value, visit, marks));
}

function ifCheck(held: Json, { schema, judgeOf }: Making): Check {
  const fitting = countFits([judgeOf(held)], 1);
  const consequence = judgeOf(own(schema, "then") ?? true);
  const alternative = judgeOf(own(schema, "else") ?? true);
  return (value, visit, marks) =>
    (fitting(value, visit, marks) > 0 ? consequence : alternative)(value, visit, marks);
}

function dependentSchemasCheck(held: Json, { judgeOf }: Making): Check {
  const parts = checksOf(held, judgeOf);
  return (value, visit, marks) => {
    if (!isJsonObject(value)) return true;
    visit.work.spend(parts.length);
    return visit.all(parts, ([name, check]) => own(value, name) === undefined || check(value, visit, marks));
  };
}

function checksOf(map: Json | undefined, judgeOf: Making["judgeOf"]): readonly (readonly [string, Check])[] {
  return Object.entries(asObject(map)).map(([name, schema]) => [name, judgeOf(schema)] as const);
}

function prefixItemsCheck(held: Json, { judgeOf }: Making): Check {
  const checks = listOf(held).map(judgeOf);
  return (value, visit, marks) => {
    if (!Array.isArray(value)) return true;
    visit.work.spend(checks.length);
    if (marks !== undefined) marks.upTo = Math.max(marks.upTo, checks.length);
    return visit.all(checks.slice(0, value.length), (check, index) =>
      visit.inside(index, check, value[index]),
    );
  };
}

function itemsCheck(held: Json, { schema, judgeOf }: Making): Check {
  const check = judgeOf(held);
  const first = listOf(own(schema, "prefixItems")).length;
  return (value, visit, marks) => {
    if (!Array.isArray(value)) return true;
    if (marks !== undefined) marks.upTo = Infinity;
    if (held === false && first > 0)
      return value.length <= first || visit.fault(() => `must NOT have more than ${first} items`);
    return visit.all(
      visit.work.entriesOf(value),
      (entry, index) => index < first || visit.inside(index, check, entry),
    );
  };
}

function containsCheck(held: Json, { schema, judgeOf }: Making): Check {
  const check = judgeOf(held);
  const least = Number(own(schema, "minContains") ?? 1);
  const most = Number(own(schema, "maxContains") ?? Infinity);
  const wanted = most === Infinity ? `at least ${least}` : `at least ${least} and no more than ${most}`;
  return (value, visit, marks) => {
    if (!Array.isArray(value)) return true;
    let count = 0;
    for (const [index, entry] of visit.work.entriesOf(value).entries()) {
      if (!check(entry, visit.deciding)) continue;
      count += 1;
      marks?.places.add(index);
      if (marks === undefined && (count > most || (count >= least && most === Infinity))) break;
    }
    return (count >= least && count <= most) || visit.fault(() => `must contain ${wanted} valid item(s)`);
  };
}

function propertyNamesCheck(held: Json, { judgeOf }: Making): Check {
  const check = judgeOf(held);
  return (value, visit) => {
    if (!isJsonObject(value)) return true;
    return visit.all(visit.work.namesOf(value), (name) => visit.insideName(name, check));
  };
}

function propertiesCheck(held: Json, { judgeOf }: Making): Check {
  const checks = checksOf(held, judgeOf);
  return (value, visit, marks) => {
    if (!isJsonObject(value)) return true;
    visit.work.spend(checks.length);
    return visit.all(checks, ([name, check]) => {
      const field = own(value, name);
      if (field === undefined) return true;
      marks?.names.add(name);
      return visit.inside(name, check, field);
    });
  };
}

function patternPropertiesCheck(held: Json, { judgeOf, matcherOf }: Making): Check {
  const parts = checksOf(held, judgeOf).map(([pattern, check]) => ({ matches: matcherOf(pattern), check }));
  return (value, visit, marks) => {
    if (!isJsonObject(value)) return true;
    return visit.all(visit.work.namesOf(value), (name) =>
      visit.all(parts, ({ matches, check }) => {
        if (!matches(name, visit.work)) return true;
        marks?.names.add(name);
        return visit.inside(name, check, value[name]);
      }),
    );
  };
}

function additionalPropertiesCheck(held: Json, { schema, judgeOf, matcherOf }: Making): Check {
  const known = own(schema, "properties");
  const names = new Set(Object.keys(known ?? {}));
  const patterns = Object.keys(own(schema, "patternProperties") ?? {}).map(matcherOf);
  const check = judgeOf(held);
  return (value, visit, marks) => {
    if (!isJsonObject(value)) return true;
    if (marks !== undefined) marks.allNames = true;
    return visit.all(visit.work.namesOf(value), (name) => {
      if (names.has(name) || patterns.some((matches) => matches(name, visit.work))) return true;
      if (held === false) return visit.fault(() => unknownField([...names]), name);
      return visit.inside(name, check, value[name]);
    });
  };
}

/** A field that a schema has no place for, with the fields that it has. */
export function unknownField(names: readonly string[]): string {
  if (names.length === 0) return "unknown";
  return `unknown; known: ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
}

function unevaluatedItemsCheck(held: Json, { judgeOf }: Making): Check {
  const check = judgeOf(held);
  return (value, visit, marks) => {
    if (!Array.isArray(value) || marks === undefined) return true;
    const fits = visit.all(
      visit.work.entriesOf(value),
      (entry, index) => marks.hasPlace(index) || visit.inside(index, check, entry),
    );
    marks.upTo = Infinity;
    return fits;
  };
}

function unevaluatedPropertiesCheck(held: Json, { judgeOf }: Making): Check {
  const check = judgeOf(held);
  return (value, visit, marks) => {
    if (!isJsonObject(value) || marks === undefined) return true;
    const fits = visit.all(visit.work.namesOf(value), (name) => {
      if (marks.hasName(name)) return true;
      if (held === false) return visit.fault(() => "unknown", name);
      return visit.inside(name, check, value[name]);
    });
    marks.allNames = true;
    return fits;
  };
}
