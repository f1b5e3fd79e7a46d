import type { Issue } from "./schema.ts";
import { refuseHoles } from "../util/json.ts";

// Some hundredths of a second on a slow machine.
const leastSteps = 500_000;
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

// A long list that is wrong throughout has a fault an entry.
const maxFaults = 1000;

/** A fault at one place: a message, or the type that one of several alternatives wants there. */
type Fault =
  | { readonly path: Issue["path"]; readonly message: string }
  | {
      readonly path: Issue["path"];
      readonly subject: string;
      readonly types: readonly string[];
      readonly found: string;
    };

// Two sets cost more to make than a step.
const stepsPerMarks = 6;

/** The parts of one value that were judged, for `unevaluatedProperties` and `unevaluatedItems`. */
export class Marks {
  allNames: boolean = false;
  readonly names: Set<string> = new Set();
  /** The entries before this place, and those at `places`. */
  upTo: number = 0;
  readonly places: Set<number> = new Set();

  constructor(work: Work) {
    work.spend(stepsPerMarks);
  }

  hasName(name: string): boolean {
    return this.allNames || this.names.has(name);
  }

  hasPlace(place: number): boolean {
    return place < this.upTo || this.places.has(place);
  }

  /** Takes over what an alternative that fits has judged. */
  add(other: Marks, work: Work): void {
    work.spend(other.names.size + other.places.size);
    this.allNames ||= other.allNames;
    this.upTo = Math.max(this.upTo, other.upTo);
    for (const name of other.names) this.names.add(name);
    for (const place of other.places) this.places.add(place);
  }
}

/** Judges a value by a schema or by one keyword. Which of its parts were judged is noted in `marks`, where somebody asks for it. */
export type Check = (value: unknown, visit: Visit, marks?: Marks) => boolean;

/**
 * One walk through a value along its schema. A walk that only decides keeps nothing and ends at the first fault; one that explains keeps
 * where it is and what it found, and goes on. What it found is always a fault of the value: alternatives are decided before they are explained.
 */
export class Visit {
  /** The walk that decides about alternatives. */
  readonly deciding: Visit;
  readonly work: Work;
  readonly #path: (string | number)[] = [];
  readonly #faults: Fault[] | undefined;
  #subject = "";

  constructor(work: Work, deciding?: Visit) {
    this.work = work;
    this.deciding = deciding ?? this;
    this.#faults = deciding === undefined ? undefined : [];
  }

  /** True if it keeps what it finds. With 1000 faults it has seen enough, and only decides from then on. */
  get explains(): boolean {
    return this.#faults !== undefined && this.#faults.length < maxFaults;
  }

  /** True if all pass the test. A walk that explains tests them all; one that decides ends at a failure. */
  all<Item>(items: readonly Item[], test: (item: Item, index: number) => boolean): boolean {
    return this.explains ? items.filter((item, index) => !test(item, index)).length === 0 : items.every(test);
  }

  /** Judges a part of the value. */
  inside(key: string | number, check: Check, part: unknown): boolean {
    if (!this.explains) return check(part, this);
    this.#path.push(key);
    const fits = check(part, this);
    this.#path.pop();
    return fits;
  }

  /** Judges the name of a field. */
  insideName(name: string, check: Check): boolean {
    this.#subject = "this name ";
    const fits = this.inside(name, check, name);
    this.#subject = "";
    return fits;
  }

  /** Notes what is wrong here, or with the part that `key` names. Always false. */
  fault(message: () => string, key?: string): false {
    this.#note(() => ({ path: this.#pathTo(key), message: `${this.#subject}${message()}` }));
    return false;
  }

  /** Notes which types are wanted here. Always false. */
  wrongType(types: readonly string[], value: unknown): false {
    this.#note(() => ({ path: this.#pathTo(), subject: this.#subject, types, found: show(value) }));
    return false;
  }

  /** The faults: one issue a place and message. All types that one place may have are one message. */
  get issues(): readonly Issue[] {
    const messages = new Map<string, Fault>();
    for (const fault of this.#faults ?? []) {
      const key = JSON.stringify([fault.path, "types" in fault ? null : fault.message]);
      const before = messages.get(key);
      if (before === undefined) messages.set(key, fault);
      else if ("types" in before && "types" in fault)
        messages.set(key, { ...before, types: [...new Set([...before.types, ...fault.types])] });
    }
    return Array.from(messages.values(), (fault) => ({
      path: fault.path,
      message:
        "types" in fault
          ? `${fault.subject}must be ${fault.types.map(withArticle).join(" or ")}, got ${fault.found}`
          : fault.message,
    }));
  }

  #note(fault: () => Fault): void {
    if (this.explains) this.#faults?.push(fault());
  }

  #pathTo(key?: string): Issue["path"] {
    return key === undefined ? [...this.#path] : [...this.#path, key];
  }
}

function withArticle(type: string): string {
  if (type === "null") return type;
  return type === "array" ? "a list" : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

/** A value in few words, for messages. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
