import { refuseHoles } from "../util/json.ts";

// Some seconds on a slow machine, and several times what 10 MB of rows need under a schema of rows.
const maxSteps = 50_000_000;

// The names of a large object cost more to list than the entries of a list.
const stepsPerName = 8;

/**
 * The work that the reading of one value by its schema may still cost. A reader of parts of the value or of
 * the schema counts them here, since their product has no other bound: a value from outside under a schema
 * from outside could hold the program for hours.
 */
export class Work {
  #left = maxSteps;

  /** Counts steps. False when nothing is left. */
  take(steps: number): boolean {
    this.#left -= steps;
    return this.#left >= 0;
  }

  /** Counts steps. @throws RangeError when nothing is left */
  spend(steps: number): void {
    if (!this.take(steps)) {
      throw new RangeError(
        `the value is too large for its schema, which takes more than ${maxSteps} steps to judge it. ` +
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
}
