import type { JSX } from "preact";
import { ticksOf, type TimeScale } from "../time-scale.ts";
import { durationText } from "./words.ts";

/** The visible part of the run, as fractions of its width. */
export interface Zoom {
  readonly from: number;
  readonly to: number;
}

/** The whole run. */
export const whole: Zoom = { from: 0, to: 1 };

/** A part with the same middle, wider or narrower by a factor. */
export function zoomed({ from, to }: Zoom, factor: number): Zoom {
  const [middle, half] = [(from + to) / 2, Math.min(0.5, ((to - from) / 2) * factor)];
  const begin = Math.min(1 - 2 * half, Math.max(0, middle - half));
  return { from: begin, to: begin + 2 * half };
}

/** A part of the same width, moved earlier or later by a fraction of it. */
export function moved({ from, to }: Zoom, by: number): Zoom {
  const width = to - from;
  const begin = Math.min(1 - width, Math.max(0, from + by * width));
  return { from: begin, to: begin + width };
}

/** The place of a fraction of the width, in percent of the visible part. */
export const inSight = (part: number, { from, to }: Zoom): number => ((part - from) / (to - from)) * 100;

/** The times above the bars, with marks for folded time. */
export function Axis({
  scale,
  zoom,
  from,
}: {
  readonly scale: TimeScale;
  readonly zoom: Zoom;
  readonly from: number;
}): JSX.Element {
  const { step, times } = ticksOf(scale, Math.min(200, (innerWidth < 760 ? 2 : 6) / (zoom.to - zoom.from)));
  const shown = times
    .map((time) => ({ time, x: inSight(scale.place(time), zoom) }))
    .filter(({ x }) => x >= 0 && x <= 94);
  return (
    <div class="axis" aria-hidden="true">
      <div class="track">
        {shown.map(({ time, x }) => (
          <span key={time} class="tick" style={{ left: `${x}%` }}>
            {durationText(time - from, step)}
          </span>
        ))}
        {scale.segments
          .filter(({ isFolded }) => isFolded)
          .map(({ from: begin, to, at, until }) => {
            const middle = Math.min(100, Math.max(0, inSight((at + until) / 2, zoom)));
            return (
              <span
                key={begin}
                class="fold"
                style={{ left: `${middle}%`, transform: `translateX(-${middle}%)` }} // at an edge it ends there
              >
                … {durationText(to - begin)}
              </span>
            );
          })}
      </div>
    </div>
  );
}
