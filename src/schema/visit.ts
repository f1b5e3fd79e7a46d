import type { Marks } from "./marks.ts";
import type { Issue } from "./schema.ts";
import type { Work } from "./work.ts";

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
          ? `${fault.subject}must be ${fault.types.join(" or ")}, is ${fault.found}`
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

/** A value in few words, for messages. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
