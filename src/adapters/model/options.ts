import { WritError } from "../../error/writ-error.ts";
import { didYouMean } from "../../util/nearest.ts";

/** @throws WritError `option-invalid` for an option that `definer` does not have: it would be passed over, with all that hangs on it */
export function knownOptions(definer: string, options: object, known: Readonly<Record<string, true>>): void {
  const other = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (other === undefined) return;
  const advice = `There is no such option${didYouMean(other, Object.keys(known)) || "."} Options: ${Object.keys(known).join(", ")}.`;
  throw new WritError("option-invalid", {
    option: `the name of an option of ${definer}`,
    value: other,
    advice,
  });
}

/** The price of a model that costs nothing. */
export const free = (): number => 0;

/** @throws WritError `option-invalid` for a number among the options of `definer` that is not a whole one from 1 on */
export function atLeastOne(definer: string, numbers: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    const advice = "Give a whole number from 1 on.";
    throw new WritError("option-invalid", { option: `${definer} ${name}`, value, advice });
  }
}

type HeaderFields = Readonly<Record<string, string>>;

/** All headers, with their names in lower case: of a name that is written in two ways the later one counts, where `fetch` would send both. */
export function headersOf(...given: readonly (HeaderFields | undefined)[]): HeaderFields {
  const named = given.flatMap((headers = {}) =>
    Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]),
  );
  return Object.fromEntries(named);
}
