import type { Work } from "./visit.ts";

/** The parts of one value that were judged, for `unevaluatedProperties` and `unevaluatedItems`. */
export class Marks {
  allNames: boolean = false;
  readonly names: Set<string> = new Set();
  /** The entries before this place, and those at `places`. */
  upTo: number = 0;
  readonly places: Set<number> = new Set();

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
