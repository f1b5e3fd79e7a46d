import { WritError } from "../../error/writ-error.ts";

/** @throws WritError `option-invalid` for a number among the options of `definer` that is not a whole one from 1 on */
export function atLeastOne(definer: string, numbers: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    const advice = "Give a whole number from 1 on.";
    throw new WritError("option-invalid", { option: `${definer} ${name}`, value, advice });
  }
}
