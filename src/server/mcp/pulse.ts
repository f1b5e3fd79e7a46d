import type { Host } from "../../journal/host.ts";

/** The progress of a call. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Tells a client how far its call is, until it is disposed. */
export interface Pulse extends Disposable {
  /** Returns the progress that was told: it is above the last one. */
  readonly tell: (told: Progress) => number;
}

/** The milliseconds of silence after which a client is told again: many give a call up after 60 s without a sign of it, some after 30 s. */
const silenceMs = 10_000;

/**
 * Passes on how far a call is. A client that was told nothing for a while is told the last progress again, a little higher: its call is still at work. The
 * protocol requires that each progress is above the one before, and that none comes after the end. Undefined for a client that does not want to be told.
 */
export function pulseOf(
  send: ((told: Progress) => void) | undefined,
  { timer }: Pick<Host, "timer">,
): Pulse | undefined {
  if (send === undefined) return undefined;
  let last: Progress | undefined;
  let stop: (() => void) | undefined;
  const begin = (): void => {
    stop?.();
    stop = timer(silenceMs, () => void tell(last ?? { progress: 0 }));
  };
  const tell = (told: Progress): number => {
    last = { ...told, progress: above(last?.progress, told.progress) };
    send(last);
    begin();
    return last.progress;
  };
  begin();
  return { tell, [Symbol.dispose]: () => stop?.() };
}

/** A progress after an earlier one: one that does not increase becomes the least greater number. */
function above(last: number | undefined, next: number): number {
  if (last === undefined || next > last) return next;
  return last + Math.max(Math.abs(last), 1) * Number.EPSILON;
}
