import type { Deviation, Schedule } from "./schedule.ts";

/** The most plays that shrinking may take. */
const mostPlays = 1200;

/** Makes a failing schedule as short as possible: without deviations, then without calls, and in one process, as long as it still fails. */
export async function shrink(
  schedule: Schedule,
  fails: (schedule: Schedule) => Promise<boolean>,
): Promise<Schedule> {
  let plays = 0;
  const known = new Set<string>();
  const stillFails = async (shorter: Schedule): Promise<boolean> => {
    const text = JSON.stringify(shorter);
    if (known.has(text) || plays >= mostPlays) return false;
    known.add(text);
    plays += 1;
    return fails(shorter);
  };
  let best = schedule;
  const attempt = async (shorter: Schedule): Promise<boolean> => {
    if (!(await stillFails(shorter))) return false;
    best = shorter;
    return true;
  };
  const attemptAny = async (some: Iterable<readonly Deviation[]>): Promise<boolean> => {
    for (const deviations of some) if (await attempt({ ...best, deviations })) return true;
    return false;
  };
  for (let before: Schedule | undefined; before !== best;) {
    before = best;
    for (let size = Math.ceil(best.deviations.length / 2); size > 1; size = Math.ceil(size / 2))
      for (let at = best.deviations.length - size; at >= 0; at -= size)
        await attempt({ ...best, deviations: best.deviations.toSpliced(at, size) });
    for (let at = best.deviations.length - 1; at >= 0; at -= 1)
      await attemptAny(without(best.deviations, at));
    for (let at = best.deviations.length - 1; at >= 0; at -= 1)
      for (let call = (best.deviations[at]?.calls?.length ?? 0) - 1; call >= 0; call -= 1)
        await attemptAny(withoutCall(best.deviations, { at, call }));
    if (best.durable === true) await attempt({ ...best, durable: false });
  }
  return best;
}

/**
 * The deviations without one: first as they are; then with the later ones of its kind moved up by one place, because the model says its next reply in
 * place of the missing one; then with those of other kinds moved up too, for a missing deviation that made a tool run or a person be asked.
 */
function* without(deviations: readonly Deviation[], at: number): Generator<readonly Deviation[]> {
  const [kind, number] = placeOf(deviations[at]);
  const rest = deviations.toSpliced(at, 1);
  const closer = rest.map((deviation) => {
    const [own, place] = placeOf(deviation);
    return own === kind && place > number ? earlier(deviation, 1) : deviation;
  });
  yield rest;
  yield closer;
  yield* earlierKinds(closer);
  yield* earlierKinds(rest);
}

/** The deviations with one call less; none if the call is the only one of its reply. */
function* withoutCall(
  deviations: readonly Deviation[],
  { at, call }: { readonly at: number; readonly call: number },
): Generator<readonly Deviation[]> {
  const deviation = deviations[at];
  const { calls = [] } = deviation ?? {};
  if (deviation === undefined || calls.length < 2) return;
  const shorter = deviations.with(at, { ...deviation, calls: calls.toSpliced(call, 1) });
  yield shorter;
  yield* earlierKinds(shorter);
}

/** The most ways to move deviations to earlier places that are tried for one missing deviation. */
const mostWays = 40;

/** The same deviations, with those of some kinds at earlier places: a missing call may have been any of the calls before them. */
function* earlierKinds(deviations: readonly Deviation[]): Generator<readonly Deviation[]> {
  const kinds = [...new Set(deviations.map((deviation) => placeOf(deviation)[0]))];
  let ways: readonly (readonly Deviation[])[] = [deviations];
  for (const kind of kinds.filter((each) => each !== "model"))
    ways = ways.flatMap((way) => [way, ...earlierOf(way, kind)]).slice(0, mostWays);
  yield* ways.slice(1);
}

/** The most steps and moments that may disappear with a call. */
const mostSkipped = 12;

/** The deviations with those of a kind, from one of them on, at earlier places. */
function earlierOf(deviations: readonly Deviation[], kind: string): readonly (readonly Deviation[])[] {
  const places = deviations.flatMap((deviation) => {
    const [own, place] = placeOf(deviation);
    return own === kind ? [place] : [];
  });
  const most = kind === "step" || kind === "moment" ? mostSkipped : 1;
  return places.flatMap((from, order) => {
    const free = from - Math.max(0, ...places.slice(0, order)) - 1;
    return Array.from({ length: Math.max(0, Math.min(free, most)) }, (_, less) =>
      deviations.map((deviation) => {
        const [own, place] = placeOf(deviation);
        return own === kind && place >= from ? earlier(deviation, less + 1) : deviation;
      }),
    );
  });
}

function earlier(deviation: Deviation, by: number): Deviation {
  const [kind, place] = placeOf(deviation);
  return { ...deviation, at: `${kind} ${place - by}` };
}

/** The point of a deviation: `tool refund 2` is the second point of `tool refund`. */
function placeOf(deviation: Deviation | undefined): readonly [string, number] {
  const { at = "" } = deviation ?? {};
  const space = at.lastIndexOf(" ");
  return [at.slice(0, space), Number(at.slice(space + 1))];
}

/** The number of steps of a schedule: one for each deviation, and for a reply one for each call. */
export function stepsOf({ deviations }: Schedule): number {
  return deviations.reduce((sum, { calls }) => sum + Math.max(1, calls?.length ?? 1), 0);
}
