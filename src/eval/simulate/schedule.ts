import type { Json, JsonObject } from "../../util/json.ts";

/** A call that the model proposes. */
export interface ProposedCall {
  readonly name: string;
  readonly arguments: Json;
}

/** All deviations, by the kind of point at which they happen. */
export const deviations = {
  /** A request to the model, counted over all runs: `model 2`. */
  model: ["proposes", "is-cut", "doubles", "is-overloaded", "breaks-off", "is-silent", "is-late"],
  /** An execution of a tool, counted for each tool: `tool refund 1`. */
  tool: ["fails", "fails-after", "hangs", "hangs-after", "is-late"],
  /** A question to a person: `person 1`. */
  person: ["refuses", "keeps-silent", "answers-late", "answers-twice", "answers-another", "edits"],
  /** A step of the journal of a durable run: `step 4`. */
  step: ["dies-before", "dies-unkept", "dies-after", "stalls"],
  /** A point in time at which the clock lets something happen: `moment 7`. */
  moment: ["stops", "hands-over"],
  /** A process that goes on with a run: `process 2`. */
  process: ["redeploys"],
  /** The next input of a conversation: `input 2`. */
  input: ["comes-early"],
} as const;

/** A kind of point at which something may deviate. */
export type PointKind = keyof typeof deviations;

/** The name of a deviation. */
export type DeviationName = (typeof deviations)[PointKind][number];

/**
 * A deviation from the quiet schedule, in which the model follows its script, every tool answers at once, every person says yes, and nothing breaks.
 *
 * `model`: it `proposes` the `calls`; its reply `is-cut` in the arguments of the last of them; it `doubles` the last, under one id; the provider
 * `is-overloaded` (429), `breaks-off` in its reply, `is-silent` for good, `is-late` by `ms`.
 * `tool`: it `fails` before its effect or after it (`fails-after`), it never gives a result (`hangs`, and after its effect `hangs-after`), `is-late` by `ms`.
 * `person`: `refuses`, `keeps-silent`, `answers-late` by `ms`, clicks twice (`answers-twice`), `answers-another` question first, `edits` the `arguments`.
 * `step`: the process dies before its work (`dies-before`), after it with nothing kept (`dies-unkept`), or after it is kept (`dies-after`); or it `stalls`, is
 * taken for dead, and comes back.
 * `moment`: the caller `stops` the run; its worker `hands-over`. `process`: it `redeploys` with the changed agent. `input`: it `comes-early`, while the run
 * before goes on.
 */
export interface Deviation {
  readonly at: string;
  readonly does: DeviationName;
  readonly calls?: readonly ProposedCall[];
  readonly arguments?: JsonObject;
  readonly ms?: number;
}

/** All deviations in the runs of an agent. Everything else follows from these. */
export interface Schedule {
  /** True if the runs are durable: kept in a store, and carried out by workers. Default: they live in one process. */
  readonly durable?: boolean;
  readonly deviations: readonly Deviation[];
}

/** Numbers from 0 up to 1. */
export type Random = () => number;

/** A deviation without its place. */
export type Drawn = Omit<Deviation, "at">;

/** A point at which something may deviate. */
export interface Point {
  readonly kind: PointKind;
  readonly at: string;
  /** The factor of its chance, compared with other points of its kind. Default 1. */
  readonly weight?: number;
}

/** Decides the deviation at each point. */
export interface Chooser {
  readonly durable: boolean;
  /** Undefined if nothing deviates. `draw` makes a deviation if one is wanted, or none. */
  choose(point: Point, draw: (random: Random) => Drawn | undefined): Deviation | undefined;
}

/** A known schedule while it is played. */
export interface KnownSchedule extends Chooser {
  /** The deviations that have not happened: their points were not reached, or nothing of their kind can happen there. */
  readonly left: ReadonlySet<Deviation>;
}

/** Deviations of runs that are kept in a store: they do nothing to a run that lives in its process. */
export const needDurable: ReadonlySet<DeviationName> = new Set([
  ...deviations.step,
  ...deviations.process,
  "hands-over",
  "answers-twice",
  "answers-another",
]);

/** Plays a schedule that is known. */
export function known({ durable = false, deviations: list }: Schedule): KnownSchedule {
  const byPlace = new Map(list.map((deviation) => [deviation.at, deviation]));
  const left = new Set(list);
  return {
    durable,
    left,
    choose({ kind, at }) {
      const deviation = byPlace.get(at);
      const names: readonly DeviationName[] = deviations[kind];
      if (deviation === undefined || !names.includes(deviation.does)) return undefined;
      if (!durable && needDurable.has(deviation.does)) return undefined;
      left.delete(deviation);
      return deviation;
    },
  };
}

/** The reason in a schedule itself for which a deviation of it cannot happen; undefined if only the run decides. */
export function whyUnplayed(
  { at, does }: Deviation,
  { durable = false, deviations: list }: Schedule,
): string | undefined {
  const [kind = ""] = at.replace(/^skill /, "model ").split(" ");
  const kinds = Object.entries<readonly DeviationName[]>(deviations);
  const names = kinds.find(([each]) => each === kind)?.[1];
  if (names === undefined) {
    const all = kinds.map(([each]) => each).join(", ");
    return `there are points of the kinds ${all}, with a number, as in "model 2" and "tool refund 1"`;
  }
  if (!names.includes(does)) return `there it may be one of ${names.join(", ")}`;
  if (!durable && needDurable.has(does)) return "only runs with `durable: true` have that";
  return list.findLast((each) => each.at === at)?.does === does
    ? undefined
    : "another deviation has its point";
}

/** One of several values; undefined if there are none. */
export function pick<Value>(random: Random, from: readonly Value[]): Value | undefined {
  return from[Math.floor(random() * from.length)];
}
