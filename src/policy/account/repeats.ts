import type { ToolCall, ToolResult } from "../../message/message.ts";
import { sameJson } from "../../util/same-json.ts";

/** The calls of one turn with their results. */
export interface Act {
  readonly calls: readonly ToolCall[];
  readonly results: readonly ToolResult[];
}

/** The last acts of a run, and for each period how many acts in a row came again. */
export interface Repeats {
  readonly acts: readonly Act[];
  readonly streaks: readonly number[];
}

/** The longest circle that is looked for: the same act again, two in turn (ping-pong), three in turn. */
const longestPeriod = 3;

/** Nothing happened yet. */
export const noRepeats: Repeats = { acts: [], streaks: [0, 0, 0] };

/** Adds the acts of a turn: same calls with the same results as one, two or three turns ago. */
export function addAct({ acts, streaks }: Repeats, act: Act): Repeats {
  const next = streaks.map((streak, index) => {
    const before = acts[acts.length - 1 - index];
    return before !== undefined && sameResults(before, act) && sameCalls(before.calls, act.calls)
      ? streak + 1
      : 0;
  });
  const kept = acts.length < longestPeriod ? acts : acts.slice(1);
  return { acts: kept.concat([act]), streaks: next };
}

/** The times that the last circle has come, with the same results each time: 1 when the last act is new. */
export function timesDone({ streaks }: Repeats): number {
  return streaks.reduce((most, streak, index) => Math.max(most, Math.floor(streak / (index + 1)) + 1), 1);
}

/** The most times that calls made now could bring what they brought before, whichever they are: 1 when nothing was done yet. */
export function mostTimes({ acts, streaks }: Repeats): number {
  return streaks.reduce(
    (most, streak, index) =>
      index < acts.length ? Math.max(most, Math.floor(streak / (index + 1)) + 2) : most,
    1,
  );
}

/**
 * The how-manieth time it would be if these calls were made now and brought what they brought before, and the act that they repeat.
 * Undefined for calls that go on with no circle. Results count: calls that bring something new each time are no circle.
 */
export function proposedAgain(
  { acts, streaks }: Repeats,
  calls: readonly ToolCall[],
): { readonly times: number; readonly act: Act } | undefined {
  let found: { readonly times: number; readonly act: Act } | undefined;
  streaks.forEach((streak, index) => {
    const act = acts.at(-1 - index);
    if (act === undefined || !sameCalls(act.calls, calls)) return;
    const times = Math.floor(streak / (index + 1)) + 2;
    if (found === undefined || times > found.times) found = { times, act };
  });
  return found;
}

function sameCalls(left: readonly ToolCall[], right: readonly ToolCall[]): boolean {
  if (left.length !== right.length) return false;
  return left.every(({ name, arguments: args }, index) => {
    const other = right[index];
    return other !== undefined && name === other.name && sameJson(args, other.arguments);
  });
}

/** Looked at first: texts are compared faster than arguments, and most results are new. */
function sameResults({ results }: Act, { results: others }: Act): boolean {
  return results.every(({ text }, index) => text === others[index]?.text);
}
