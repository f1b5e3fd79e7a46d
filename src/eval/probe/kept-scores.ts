import { driverNames } from "../../model/driver-names.ts";
import { isJsonList, type Json } from "../../util/json.ts";
import { count, finite, fits, object, oneOf, type Shape, whole } from "../../util/shape.ts";
import type { Compared } from "./best.ts";
import type { ProbeEvent } from "./probe.ts";

/** The scores of a model from an earlier probe. */
export interface MeasuredBefore {
  readonly scores: Json;
  /** The day, as YYYY-MM-DD. */
  readonly date: string;
}

/** A score of an earlier probe, with its day and its other remembered fields. */
export type KeptScore = Compared & { readonly date: string };

const share = object({ count: whole, of: whole });
const shape: Shape<Compared> = object({
  driver: oneOf(...driverNames),
  held: oneOf("on", "off", "never"),
  right: share,
  restraint: share,
  valid: share,
  inputTokens: count,
  outputTokens: count,
  score: finite,
});

/**
 * The scores of earlier probes that stay valid after a new one: of ways that it did not measure, with as many cases. A driver that the model turned out not to
 * support keeps none. A new score that nothing held replaces all scores of its driver, and any new score one that nothing held.
 */
export function keptScores(
  before: MeasuredBefore | undefined,
  events: readonly ProbeEvent[],
  cases: number,
): readonly KeptScore[] {
  if (before === undefined || !isJsonList(before.scores)) return [];
  return before.scores.flatMap((score: unknown): KeptScore[] => {
    if (!fits(shape, score) || score.right.of + score.restraint.of !== cases) return [];
    return events.some((event) => replaces(event, score)) ? [] : [{ date: before.date, ...score }];
  });
}

function replaces(event: ProbeEvent, { driver, held }: Compared): boolean {
  if (event.driver !== driver) return false;
  return event.type === "skipped" || event.held === held || event.held === "never" || held === "never";
}
