import type { Way } from "./probe.ts";
import { partOf, type WayScore } from "./score.ts";

/** The parts of a score that ways are compared by. */
export type Compared = Way &
  Pick<WayScore, "right" | "restraint" | "valid" | "inputTokens" | "outputTokens" | "score">;

/** The best of several ways, with the reason. */
export interface Best {
  readonly way: Compared;
  readonly why: string;
}

/**
 * The best of these: by score, then by the number of right cases, then by the share of valid replies, then by fewer tokens; of equals, the first
 * wins. A way that was measured with fewer cases than others is not compared: its first case may be its only success. Undefined if there
 * are none, or none scored more than 0.
 */
export function bestOf(scores: readonly Compared[]): Best | undefined {
  const most = Math.max(...scores.map(casesOf));
  const [way, next] = scores.filter((score) => casesOf(score) === most).toSorted(compare);
  if (way === undefined || way.score === 0) return undefined;
  const shares = `right ${shareText(way.right)}, restraint ${shareText(way.restraint)}`;
  return { way, why: next === undefined ? shares : `${shares}; ${advantage(way, next)}` };
}

function casesOf({ right, restraint }: Compared): number {
  return right.of + restraint.of;
}

/** The ways that `auto` uses: it holds the model to a format wherever that is possible. */
export function goneByAuto(scores: readonly Compared[]): readonly Compared[] {
  return scores.filter(({ held }) => held !== "off");
}

/** A way in words. */
export function wayText({ driver, held }: Way): string {
  return { on: `${driver} with grammar`, off: `${driver} without grammar`, never: driver }[held];
}

const measures: readonly {
  readonly of: (score: Compared) => number;
  readonly text: (next: string) => string;
}[] = [
  { of: ({ score }) => score, text: (next) => `${next} scores less` },
  { of: ({ right }) => right.count, text: (next) => `${next} scores the same, with fewer right` },
  { of: ({ valid }) => partOf(valid), text: (next) => `${next} scores the same, with fewer replies valid` },
  {
    of: ({ inputTokens, outputTokens }) => -inputTokens - outputTokens,
    text: (next) => `${next} scores the same, with more tokens`,
  },
];

function compare(a: Compared, b: Compared): number {
  for (const { of } of measures) if (of(a) !== of(b)) return of(b) - of(a);
  return 0;
}

function advantage(way: Compared, next: Compared): string {
  const decided = measures.find(({ of }) => of(way) !== of(next));
  return decided?.text(wayText(next)) ?? `${wayText(next)} is as good, and comes after it`;
}

function shareText({ count, of }: WayScore["right"]): string {
  return `${count} of ${of}`;
}
