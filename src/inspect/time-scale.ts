/** A span of time in which something worked. */
export interface Busy {
  readonly from: number;
  readonly to: number;
}

/** A part of the scale: time from `from` to `to` is drawn between the fractions `at` and `until` of the width. A folded part is drawn shorter. */
export interface Segment extends Busy {
  readonly at: number;
  readonly until: number;
  readonly isFolded: boolean;
}

/** The scale of a waterfall. */
export interface TimeScale {
  readonly segments: readonly Segment[];
  /** The place of a time, between 0 and 1. */
  place(time: number): number;
}

/** The fraction of the width that a folded part takes. */
const foldedWidth = 0.05;
const shortestFolded = 1000;

/**
 * Makes the scale of a run. A span without work that lasts longer than a second, and than all work together, is folded: the six longest at most, so that
 * work keeps at least 70 % of the width. With `isTrue` nothing is folded.
 */
export function timeScale(
  from: number,
  to: number,
  { busy, isTrue }: { readonly busy: readonly Busy[]; readonly isTrue: boolean },
): TimeScale {
  const end = Math.max(to, from + 1);
  const folded = isTrue ? [] : foldedGaps({ from, to: end }, busy);
  const segments = segmentsOf({ from, to: end }, folded);
  return { segments, place: (time) => placeIn(segments, time) };
}

function foldedGaps(whole: Busy, busy: readonly Busy[]): readonly Busy[] {
  const gaps = gapsOf(whole, busy);
  const idle = (list: readonly Busy[]): number => list.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const work = Math.max(1, whole.to - whole.from - idle(gaps));
  return gaps
    .filter((gap) => gap.to - gap.from > Math.max(shortestFolded, work))
    .toSorted((one, other) => other.to - other.from - one.to + one.from)
    .slice(0, 6)
    .toSorted((one, other) => one.from - other.from);
}

/** The spans in which nothing worked. */
export function gapsOf({ from, to }: Busy, busy: readonly Busy[]): readonly Busy[] {
  const gaps: Busy[] = [];
  let reached = from;
  for (const stretch of busy.toSorted((one, other) => one.from - other.from)) {
    if (stretch.from > reached) gaps.push({ from: reached, to: stretch.from });
    reached = Math.max(reached, stretch.to);
  }
  if (to > reached) gaps.push({ from: reached, to });
  return gaps;
}

function segmentsOf({ from, to }: Busy, folded: readonly Busy[]): readonly Segment[] {
  const shown = to - from - folded.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const width = 1 - folded.length * foldedWidth;
  const segments: Segment[] = [];
  let [time, at] = [from, 0];
  const add = (until: number, isFolded: boolean): void => {
    if (until <= time) return;
    const share = isFolded ? foldedWidth : shown <= 0 ? 0 : ((until - time) / shown) * width;
    segments.push({ from: time, to: until, at, until: at + share, isFolded });
    [time, at] = [until, at + share];
  };
  for (const gap of folded) {
    add(gap.from, false);
    add(gap.to, true);
  }
  add(to, false);
  return segments;
}

function placeIn(segments: readonly Segment[], time: number): number {
  const segment = segments.find(({ to }) => time <= to) ?? segments.at(-1);
  if (segment === undefined) return 0;
  const share = (time - segment.from) / Math.max(1, segment.to - segment.from);
  return segment.at + Math.min(1, Math.max(0, share)) * (segment.until - segment.at);
}

/** The ticks of a scale. */
export interface Ticks {
  /** The time between two of them, in milliseconds. */
  readonly step: number;
  readonly times: readonly number[];
}

/** Rounded times for the ticks of a scale: about `count` in the parts that are not folded. */
export function ticksOf({ segments }: TimeScale, count: number): Ticks {
  const [first] = segments;
  if (first === undefined) return { step: 1, times: [] };
  const shown = segments.filter(({ isFolded }) => !isFolded);
  const total = shown.reduce((sum, { from, to }) => sum + to - from, 0);
  const step = roundStep(total / count);
  const times = shown.flatMap(({ from, to }) => {
    const begin = Math.ceil((from - first.from) / step) * step + first.from;
    return Array.from(
      { length: Math.max(0, Math.floor((to - begin) / step) + 1) },
      (_, index) => begin + index * step,
    );
  });
  return { step, times };
}

function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  return ([1, 2, 5].find((factor) => factor * power >= wanted) ?? 10) * power;
}
