import type { CallSpan, InspectedTurn } from "./view.ts";

interface TimedSpan {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** The difference between the clocks of one machine at the end of a step and the beginning of the next. */
const slackMs = 2;

/**
 * The keys of the spans that the end of a run waited for, in order: from the last that ended, back to the last that had ended when it began, and so
 * on. The run becomes faster only if one of these does.
 */
export function criticalPath(turns: readonly InspectedTurn[]): readonly string[] {
  const spans = turns.flatMap(timedSpans).toSorted((one, other) => one.to - other.to);
  const path: string[] = [];
  let before = Infinity;
  for (let place = spans.length - 1; place >= 0; place -= 1) {
    const span = spans[place];
    if (span === undefined || span.to > before + slackMs || span.from >= before) continue;
    path.push(span.key);
    before = Math.min(before, span.from);
  }
  return [...new Set(path.toReversed())];
}

function timedSpans({ model, calls }: InspectedTurn): readonly TimedSpan[] {
  const made = calls.flatMap(({ key, spans }) => stretches(spans).map((stretch) => ({ key, ...stretch })));
  return model === undefined ? made : [{ key: model.key, from: model.from, to: model.to }, ...made];
}

/** The spans in which a call did not queue. While it queued, the path has the calls that it waited for. */
function stretches(spans: readonly CallSpan[]): readonly Omit<TimedSpan, "key">[] {
  const made: { from: number; to: number }[] = [];
  let reached: number | undefined;
  for (const { phase, from, to } of spans) {
    const last = made.at(-1);
    if (phase === "queued") reached = undefined;
    else if (last !== undefined && reached === from) reached = last.to = to;
    else {
      made.push({ from, to });
      reached = to;
    }
  }
  return made;
}
