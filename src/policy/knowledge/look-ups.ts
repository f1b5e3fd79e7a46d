import type { ResultMessage } from "../../message/message.ts";
import type { ValueSource, ValueType } from "../../tool/parameters.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { type BoundValues, valuesIn } from "../values/bound-values.ts";
import { canonical } from "../values/canonical.ts";
import { formOf } from "../values/form.ts";
import { writtenOut } from "./written-out.ts";

/** The most values of a result that are looked at; later ones count as not found. */
const mostValues = 20_000;

/** A result from which a policy lets parameters take values. It is read on first use. */
export class LookUp {
  readonly tool: string;
  /** The look-up before this one. */
  readonly before: LookUp | undefined;
  /** True if each argument of the lookup was chosen. */
  readonly isChosen: boolean;
  private readonly message: ResultMessage;
  private readonly fields = new Map<string | undefined, ReadonlySet<string>>();
  private readonly said = new Map<string, BoundValues>();

  constructor(message: ResultMessage, isChosen: boolean, before: LookUp | undefined) {
    this.tool = message.name;
    this.message = message;
    this.isChosen = isChosen;
    this.before = before;
  }

  has(value: string | number, { type, whole, field }: ValueSource, as: ValueType | undefined): boolean {
    if (type === "found-in" && !this.isChosen) return false;
    if (type === "found-in" && whole !== true) return this.saidIn(field).has(value, as);
    const spelling = spelledAs(value, as);
    return spelling !== undefined && this.wholeIn(field, as).has(spelling);
  }

  /** The records that have such a field, and another field that is wholly a name; undefined if there is too much to look at. */
  named(field: ValueSource["field"], isName: (value: string | number) => boolean): Named | undefined {
    return recordsOf(this.message.value ?? null, (record) => {
      const entries = Object.entries(record);
      return (
        entries.some(([key]) => isField(field, key)) &&
        entries.some(([key, value]) => !isField(field, key) && isPlain(value) && isName(value))
      );
    });
  }

  private saidIn(field: ValueSource["field"]): BoundValues {
    const key = JSON.stringify(field ?? "");
    const known = this.said.get(key);
    if (known !== undefined) return known;
    const { value, text } = this.message;
    const texts =
      field === undefined ? [writtenOut(value) ?? text] : wholeValues(value ?? null, field).map(String);
    const said = valuesIn(texts);
    this.said.set(key, said);
    return said;
  }

  private wholeIn(field: ValueSource["field"], as: ValueType | undefined): ReadonlySet<string> {
    const key = `${as ?? ""} ${field === undefined ? "" : JSON.stringify(field)}`;
    const known = this.fields.get(key);
    if (known !== undefined) return known;
    const { value = this.message.text } = this.message;
    const found = new Set<string>();
    for (const each of wholeValues(value, field)) {
      const spelling = spelledAs(each, as);
      if (spelling !== undefined) found.add(spelling);
    }
    this.fields.set(key, found);
    return found;
  }
}

type Named = readonly JsonObject[];

/** The matching objects in a result, at any depth; undefined if there are more values than are looked at. */
function recordsOf(value: Json, isMeant: (record: JsonObject) => boolean): Named | undefined {
  const found: JsonObject[] = [];
  let left = mostValues;
  function visit(part: Json): void {
    left -= 1;
    if (left < 0) return;
    if (Array.isArray(part)) part.forEach(visit);
    else if (isJsonObject(part)) {
      if (isMeant(part)) found.push(part);
      Object.values(part).forEach(visit);
    }
  }
  visit(value);
  return left < 0 ? undefined : found;
}

/**
 * True if a value is the whole content, or a whole list item, of such a field in the one record with a name among these lookups and all earlier ones of the
 * tool, and a lookup with chosen arguments returned that record.
 */
export function isOfNamed(
  last: LookUp | undefined,
  {
    value,
    source,
    type,
  }: { readonly value: string | number; readonly source: ValueSource; readonly type: ValueType | undefined },
  isName: (value: string | number) => boolean,
): boolean {
  const records = new Map<string, { readonly record: JsonObject; readonly isChosen: boolean }>();
  for (let each = last; each !== undefined; each = each.before) {
    if (each.tool !== source.tool) continue;
    const named = each.named(source.field, isName);
    if (named === undefined) return false;
    for (const record of named) {
      const key = canonicalJson(record);
      records.set(key, { record, isChosen: each.isChosen || records.get(key)?.isChosen === true });
    }
  }
  const [only, ...others] = records.values();
  if (only?.isChosen !== true || others.length > 0) return false;
  const spelling = spelledAs(value, type);
  const own = Object.entries(only.record).flatMap(([key, held]) =>
    isField(source.field, key) ? [held].flat() : [],
  );
  return spelling !== undefined && own.some((each) => isPlain(each) && spelledAs(each, type) === spelling);
}

function isField(field: ValueSource["field"], key: string): boolean {
  return field === undefined || (typeof field === "string" ? key === field : field.includes(key));
}

function isPlain(value: Json): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** A value in the canonical spelling of a type, or, without one, of the type of its form. */
function spelledAs(value: string | number, as: ValueType | undefined): string | undefined {
  if (as !== undefined) return canonical(as, value);
  const formed = formOf(value);
  return formed && `${formed.type} ${formed.canonical}`;
}

/** The values that are the whole content of a field, or a whole item of a list in it. */
function wholeValues(value: Json, field: ValueSource["field"]): readonly (string | number)[] {
  const found: (string | number)[] = [];
  let left = mostValues;
  function visit(part: Json, isMeant: boolean): void {
    left -= 1;
    if (left < 0) return;
    if (Array.isArray(part)) part.forEach((each: Json) => visit(each, isMeant));
    else if (isJsonObject(part))
      for (const [key, each] of Object.entries(part)) visit(each, isField(field, key));
    else if (isMeant && isPlain(part)) found.push(part);
  }
  visit(value, field === undefined);
  return found;
}
