import type { Deviation, Schedule } from "./schedule.ts";

/** More plays than shrinking is worth. */
const mostPlays = 600;

/** Makes a schedule that fails as short as it can be: without deviations, then without calls, and in one process, where it still fails. */
export async function shrink(
  schedule: Schedule,
  fails: (schedule: Schedule) => Promise<boolean>,
): Promise<Schedule> {
  let plays = 0;
  const stillFails = async (shorter: Schedule): Promise<boolean> => {
    plays += 1;
    return plays <= mostPlays && fails(shorter);
  };
  let best = schedule;
  const attempt = async (shorter: Schedule): Promise<boolean> => {
    if (!(await stillFails(shorter))) return false;
    best = shorter;
    return true;
  };
  for (let before: Schedule | undefined; before !== best;) {
    before = best;
    for (
      let size = Math.ceil(best.deviations.length / 2);
      size >= 1;
      size = size === 1 ? 0 : Math.ceil(size / 2)
    )
      for (let at = best.deviations.length - size; at >= 0; at -= size)
        if (!(await attempt({ ...best, deviations: best.deviations.toSpliced(at, size) })) && size === 1)
          await attempt({ ...best, deviations: without(best.deviations, at) });
    for (const [at, deviation] of best.deviations.entries())
      for (const simpler of simplerThan(deviation))
        await attempt({ ...best, deviations: best.deviations.with(at, simpler) });
    if (best.durable === true) await attempt({ ...best, durable: false });
  }
  return best;
}

/** The deviations without one, those of its kind that come later one place before theirs: the model says the next thing in place of what is left out. */
function without(deviations: readonly Deviation[], at: number): readonly Deviation[] {
  const [kind, number] = placeOf(deviations[at]);
  return deviations.toSpliced(at, 1).map((deviation) => {
    const [own, place] = placeOf(deviation);
    return own === kind && place > number ? { ...deviation, at: `${own} ${place - 1}` } : deviation;
  });
}

/** The point of a deviation: `tool refund 2` is the second of `tool refund`. */
function placeOf(deviation: Deviation | undefined): readonly [string, number] {
  const { at = "" } = deviation ?? {};
  const space = at.lastIndexOf(" ");
  return [at.slice(0, space), Number(at.slice(space + 1))];
}

/** The same deviation with one call less. */
function simplerThan(deviation: Deviation): readonly Deviation[] {
  const { calls = [] } = deviation;
  return calls.length < 2 ? [] : calls.map((_call, at) => ({ ...deviation, calls: calls.toSpliced(at, 1) }));
}

/** The steps of a schedule: each deviation, and of a reply each call. */
export function stepsOf({ deviations }: Schedule): number {
  return deviations.reduce((sum, { calls }) => sum + Math.max(1, calls?.length ?? 1), 0);
}
