import { WritError } from "../../error/writ-error.ts";
import { asSentence } from "../../util/as-sentence.ts";
import { checkShape } from "../../error/check-shape.ts";
import { object, record, type Shape, shapeOf, shownValue } from "../../util/shape.ts";
import { fieldMeant } from "../../error/other-words.ts";

/** The shape of each option of a model. */
export type OptionShapes<Options> = { readonly [Name in keyof Required<Options>]: Shape<unknown> };

/** A function from a usage to dollars, or a model without cost. */
export const priceShape: Shape<unknown> = shapeOf(
  "a function from a usage to dollars, or 0",
  (value) => typeof value === "function" || value === 0,
  shownValue,
);

/**
 * @throws WritError `option-invalid` for an option that `definer` does not have and would ignore, `definition-invalid` for a value of another form
 */
export function knownOptions(
  definer: string,
  options: object,
  known: Readonly<Record<string, Shape<unknown>>>,
): void {
  checkShape(`${definer}()`, options, record);
  const other = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (other === undefined) return checkShape(`${definer}()`, options, object(known));
  const names = Object.keys(known);
  const advice = `${asSentence(`There is no such option${fieldMeant(other, { known: names, given: options })}`)} Options: ${names.join(", ")}.`;
  throw new WritError("option-invalid", {
    option: `the name of an option of ${definer}`,
    value: other,
    advice,
  });
}

/** The price of a model without cost. */
export const free = (): number => 0;

/** @throws WritError `option-invalid` for a number among the options of `definer` that is not a whole number from 1 on */
export function atLeastOne(definer: string, numbers: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    const advice = "Give a whole number from 1 on.";
    throw new WritError("option-invalid", { option: `${definer} ${name}`, value, advice });
  }
}

type HeaderFields = Readonly<Record<string, string>>;

/**
 * All headers, with their names in lower case: of a name in two spellings the later one counts, where `fetch` would send both.
 *
 * @throws WritError `option-invalid` for a value that is not allowed in a header
 */
export function headersOf(...given: readonly (HeaderFields | undefined)[]): HeaderFields {
  const named = given.flatMap((headers = {}) =>
    Object.entries(headers).map(([name, value]): [string, string] => [
      name.toLowerCase(),
      checkedValue(`the header "${name}"`, value),
    ]),
  );
  return Object.fromEntries(named);
}

/** The values that a header may have. `fetch` leaves out line ends around them. */
const headerValue = /^[\r\n]*[\t\u0020-\u007E\u0080-\u00FF]*[\r\n]*$/;

/**
 * Returns a value for a header.
 *
 * @throws WritError `option-invalid`, which does not repeat the value, for one that is not allowed in a header: the error of `fetch` would repeat a key
 */
export function checkedValue(option: string, value: string): string {
  if (headerValue.test(value)) return value;
  const advice = "It has a line end, or a sign that no header takes: look where it is read from.";
  throw new WritError("option-invalid", { option, value: "…", advice });
}

/** An address for an error, or the text given in its place: without the parts that may hold credentials and keys. */
export function shownAddress(given: string): string {
  return given.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1…@");
}
