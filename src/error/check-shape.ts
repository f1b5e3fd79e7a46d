import { asSentence } from "../util/as-sentence.ts";
import { didYouMean } from "../util/nearest.ts";
import { type Fitting, fits, misfitText, object, type Shape, shapeOf, shownValue } from "../util/shape.ts";
import { type Asking, fieldMeant } from "./other-words.ts";
import { WritError } from "./writ-error.ts";

/** Holds what an author gave against a shape. @throws WritError `definition-invalid` that names the field, what it must be and what is there */
export function checkShape(where: string, given: unknown, shape: Shape<unknown>): void {
  const fault = misfitText(shape, given);
  if (fault !== undefined) throw new WritError("definition-invalid", { where, reason: asSentence(fault) });
}

/** Holds arguments of a function against shapes, each by its name. @throws WritError `definition-invalid` */
export function checkArguments(
  where: string,
  given: Readonly<Record<string, unknown>>,
  shapes: Readonly<Record<string, Shape<unknown>>>,
): void {
  checkShape(where, given, object(shapes));
}

export const fromOne: Shape<number> = shapeOf(
  "a whole number of at least 1",
  (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 1,
  shownValue,
);

/** The number of things that may be at work at a time. */
export const atOnce: Shape<number> = shapeOf(
  "a whole number of at least 1, or Infinity",
  (value) => value === Infinity || fits(fromOne, value),
  shownValue,
);

export const webAddress: Shape<unknown> = shapeOf(
  "an http or https address",
  (value) => URL.canParse(String(value)) && /^https?:$/.test(new URL(String(value)).protocol),
);

/** @throws WritError `definition-invalid` for what is no whole number of at least 1 */
export function checkCount(count: number, where: string): void {
  checkShape(where, count, fromOne);
}

/** The other sides of an object with a closed list of fields. */
interface ClosedAbout extends Pick<Asking, "owner"> {
  /** Fields that it may have too, which nobody is told of. */
  readonly taken?: readonly string[];
}

/** An object with these fields and no others. The owner decides the meaning of words of other libraries. */
export function closed<const Of extends Readonly<Record<string, Shape<unknown>>>>(
  fields: Of,
  { taken = [], ...asked }: ClosedAbout = {},
): Shape<{ readonly [Name in keyof Of]: Fitting<Of[Name]> }> {
  const { wanted, misfit } = object(fields);
  return {
    wanted,
    misfit(value) {
      const stray = strayReason(value, Object.keys(fields));
      if (stray !== undefined) return { path: "", reason: stray };
      const other = Object.keys(Object(value)).find(
        (key) => !Object.hasOwn(fields, key) && !taken.includes(key),
      );
      if (other === undefined || typeof value !== "object" || Array.isArray(value)) return misfit(value);
      const known = Object.keys(fields);
      const near = fieldMeant(other, { ...asked, known, given: value }) || `; known are ${known.join(", ")}`;
      return { path: "", reason: `has the unknown field ${JSON.stringify(other)}${near}` };
    },
  };
}

/**
 * The fault of an instance of a class that has none of the fields, as an AbortSignal in place of `{ signal }` or a Map: without fields of its own it would pass as
 * an object that leaves all of them out.
 */
export function strayReason(value: unknown, fields: readonly string[]): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (isPlain || Object.keys(value).length > 0 || fields.some((field) => field in value)) return undefined;
  return `must be an object with ${fields.join(", ")}, got an instance of ${value.constructor.name}`;
}

/** The error of a list that names a tool which is not there. */
export function unknownTool(where: string, name: string, has: Iterable<string>): WritError<"tool-unknown"> {
  const names = [...has];
  const known = names.join(", ") || "none";
  return new WritError("tool-unknown", { where, name, near: didYouMean(name, names) || ".", known });
}
