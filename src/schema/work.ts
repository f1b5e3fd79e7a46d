import { refuseHoles } from "../util/json.ts";

// Some hundredths of a second on a slow machine.
const leastSteps = 1_000_000;
// Twice what rows need under a schema of rows.
const stepsPerCharacter = 8;
// About a second on a slow machine, however large the value is.
const maxSteps = 50_000_000;

// The names of a large object cost more to list than the entries of a list.
const stepsPerName = 8;

/**
 * The work that the reading of one value by its schema may still cost: a part that is there for every value, and more for a larger one, so that
 * it grows with the value alone. A reader of parts of the value or of the schema counts them here, since their product has no other bound: a
 * value from outside under a schema from outside could hold the program for hours.
 */
export class Work {
  readonly #value: unknown;
  #allowed = leastSteps;
  #left = leastSteps;
  #isMeasured = false;

  constructor(value: unknown) {
    this.#value = value;
  }

  /** Counts steps. False when nothing is left. */
  take(steps: number): boolean {
    this.#left -= steps;
    return this.#left >= 0 || this.#extended();
  }

  /** Counts steps. @throws RangeError when nothing is left */
  spend(steps: number): void {
    if (!this.take(steps)) {
      throw new RangeError(
        `the value is too large for its schema, which takes more than ${this.#allowed} steps to judge it. ` +
          "Send a smaller value, or give the schema fewer alternatives.",
      );
    }
  }

  /** The names of an object's fields, whose listing is counted. @throws RangeError when nothing is left */
  namesOf(value: object): readonly string[] {
    const names = Object.keys(value);
    this.spend(names.length * stepsPerName);
    return names;
  }

  /** The entries of a list, which are counted. @throws RangeError when nothing is left, TypeError when the list has holes */
  entriesOf(list: readonly unknown[]): readonly unknown[] {
    refuseHoles(list);
    this.spend(list.length);
    return list;
  }

  /** Measures the value once, when the first part is used up: few values come so far. */
  #extended(): boolean {
    if (this.#isMeasured) return false;
    this.#isMeasured = true;
    const more = Math.min(stepsPerCharacter * charactersOf(this.#value), maxSteps - leastSteps);
    this.#allowed += more;
    this.#left += more;
    return this.#left >= 0;
  }
}

/** About as many characters as a value has as JSON; it is walked through as far as they count. */
function charactersOf(value: unknown): number {
  let characters = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && characters * stepsPerCharacter < maxSteps) {
    const part = waiting.pop();
    if (typeof part === "string") characters += part.length;
    else if (Array.isArray(part)) characters += pushAll(part, waiting);
    else if (typeof part === "object" && part !== null) {
      const names = Object.keys(part);
      for (const name of names) characters += name.length;
      characters += pushAll(Object.values(part), waiting);
    }
    characters += 1;
  }
  return characters;
}

function pushAll(parts: readonly unknown[], waiting: unknown[]): number {
  const most = Math.min(parts.length, maxSteps / stepsPerCharacter);
  for (let index = 0; index < most; index += 1) waiting.push(parts[index]);
  return most;
}
