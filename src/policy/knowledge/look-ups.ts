import type { ResultMessage } from "../../message/message.ts";
import type { ValueSource, ValueType } from "../../tool/parameters.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { type BoundValues, valuesIn } from "../values/bound-values.ts";
import { canonical } from "../values/canonical.ts";
import { formOf } from "../values/form.ts";
import { writtenOut } from "./written-out.ts";

/** More values of a result are not looked at: what stands behind them was not found. */
const mostValues = 20_000;

/** A result from which a policy lets parameters take values. It is read when somebody asks. */
export class LookUp {
  readonly tool: string;
  /** The look-up before this one. */
  readonly before: LookUp | undefined;
  /** Each of its own arguments was chosen. */
  private readonly isChosen: boolean;
  private readonly message: ResultMessage;
  private readonly fields = new Map<string | undefined, ReadonlySet<string>>();
  private said: BoundValues | undefined;

  constructor(message: ResultMessage, isChosen: boolean, before: LookUp | undefined) {
    this.tool = message.name;
    this.message = message;
    this.isChosen = isChosen;
    this.before = before;
  }

  has(value: string | number, { type, whole, field }: ValueSource, as: ValueType | undefined): boolean {
    if (type === "found-in" && !this.isChosen) return false;
    if (type === "found-in" && whole !== true) {
      this.said ??= valuesIn([writtenOut(this.message.value) ?? this.message.text]);
      return this.said.has(value, as);
    }
    const spelling = spelledAs(value, as);
    return spelling !== undefined && this.wholeIn(field, as).has(spelling);
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

/** A value in the one spelling of its type; without a type that of the form which it has. */
function spelledAs(value: string | number, as: ValueType | undefined): string | undefined {
  if (as !== undefined) return canonical(as, value);
  const formed = formOf(value);
  return formed && `${formed.type} ${formed.canonical}`;
}

/** The values that are all of a field, or of an item of a list in it. */
function wholeValues(value: Json, field: ValueSource["field"]): readonly (string | number)[] {
  const found: (string | number)[] = [];
  const isNamed = (key: string): boolean =>
    field === undefined || (typeof field === "string" ? key === field : field.includes(key));
  let left = mostValues;
  function visit(part: Json, isField: boolean): void {
    left -= 1;
    if (left < 0) return;
    if (Array.isArray(part)) part.forEach((each: Json) => visit(each, isField));
    else if (isJsonObject(part)) for (const [key, each] of Object.entries(part)) visit(each, isNamed(key));
    else if (isField && (typeof part === "string" || typeof part === "number")) found.push(part);
  }
  visit(value, field === undefined);
  return found;
}
