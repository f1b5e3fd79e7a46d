import type { Prepare } from "./script.ts";

/** A measured value. */
export interface Figure {
  /** Its name and unit. */
  readonly label: string;
  readonly value: number;
  /** A higher value is better. Default: a lower one is. */
  readonly higherIsBetter?: boolean;
  /** The same figure for the cheapest repetition in processor time; for the smoke run. */
  readonly cpu?: number;
}

/** A case, at each of its sizes. */
export interface BenchCase {
  readonly group: string;
  readonly sizes: readonly number[];
  /** No peer has a counterpart. */
  readonly alone?: true;
  run(prepare: Prepare, size: number): Promise<readonly Figure[]>;
}
