import { isJsonObject, type Json, parseJson } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import { type Check, shown, valueCheck } from "./check.ts";
import type { ExpectedAnswer } from "./eval-case.ts";
import type { EvaluatedRun } from "./eval-report.ts";
import { textSchema, valueSchema } from "./value-schema.ts";

type CheckOf<Field extends keyof ExpectedAnswer> = (
  wanted: Exclude<ExpectedAnswer[Field], undefined>,
) => Check["fault"];

/** The checks of an answer, by the field of the expectation. */
const makers: { readonly [Field in keyof ExpectedAnswer]-?: CheckOf<Field> } = {
  equals: (wanted) => (run) => {
    const isSame =
      typeof wanted === "string" && run.output === undefined
        ? run.answer.trim() === wanted.trim()
        : sameValue(wanted, run);
    return isSame ? undefined : `it is ${answerOf(run)}, not ${shown(wanted)}`;
  },
  contains: (wanted) => (run) => {
    const missing = textsOf(wanted).find((text) => !hasText(run.answer, text));
    return missing === undefined ? undefined : `${shown(missing)} does not stand in ${answerOf(run)}`;
  },
  omits: (wanted) => (run) => {
    const found = textsOf(wanted).find((text) => hasText(run.answer, text));
    return found === undefined ? undefined : `${shown(found)} stands in ${answerOf(run)}`;
  },
  matches: (wanted) => {
    const check = valueCheck(textSchema(wanted));
    return async (run) =>
      (await check(run.answer)) === undefined ? undefined : `${answerOf(run)} does not match ${wanted}`;
  },
  json: (wanted) => jsonCheck(valueCheck(valueSchema(wanted))),
  schema: (wanted) => jsonCheck(valueCheck(wanted)),
};

/**
 * Makes the checks of an answer.
 *
 * @throws WritError `schema-invalid` through `each`, which gets the field
 */
export function answerChecks(
  expected: ExpectedAnswer,
  each: (field: string, make: () => Check["fault"]) => Check[],
): Check[] {
  return Object.entries({ ...expected }).flatMap(([field, wanted]) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field of an expectation has the maker of its kind
    const make = makers[field as keyof ExpectedAnswer] as CheckOf<"equals"> | undefined;
    return make === undefined || wanted === undefined ? [] : each(field, () => make(wanted));
  });
}

function jsonCheck(check: ReturnType<typeof valueCheck>): Check["fault"] {
  return async (run) => {
    const value = valueOf(run);
    if (value === undefined) return `${answerOf(run)} is not JSON`;
    const fault = await check(value);
    return fault === undefined ? undefined : `${fault}, in ${answerOf(run)}`;
  };
}

/** The answer as JSON; undefined if it is not JSON. */
function valueOf({ output, answer }: EvaluatedRun): Json | undefined {
  if (output !== undefined) return output;
  const parsed = parseJson(answer);
  return parsed.ok ? parsed.value : undefined;
}

function sameValue(wanted: Json, run: EvaluatedRun): boolean {
  const value = valueOf(run);
  return value !== undefined && sameJson(wanted, value);
}

function answerOf({ outcome, output, answer }: EvaluatedRun): string {
  if (outcome !== "answered") return `an answer that is not there (${outcome})`;
  return isJsonObject(output) || Array.isArray(output) ? shown(output) : shown(answer);
}

function textsOf(wanted: string | readonly string[]): readonly string[] {
  return typeof wanted === "string" ? [wanted] : wanted;
}

function hasText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
