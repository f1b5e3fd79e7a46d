import type { JSX } from "preact";
import type { Sign } from "./words.ts";

const shapes: Readonly<Record<Sign, JSX.Element>> = {
  done: <path d="M3.5 8.5 6.5 11.5 12.5 4.5" />,
  failed: <path d="M4 4 12 12M12 4 4 12" />,
  unknown: <path d="M5.6 6.1a2.4 2.4 0 1 1 3.7 2c-.8.5-1.3 1-1.3 1.9M8 12.6v.2" />,
  refused: (
    <g>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M4.2 11.8 11.8 4.2" />
    </g>
  ),
  waiting: (
    <g>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 4.8V8l2.4 1.6" />
    </g>
  ),
  open: <path d="M5.5 3.5 12 8 5.5 12.5Z" />,
  pending: <circle cx="8" cy="8" r="2" />,
  none: <g />,
};

/** The sign of a state. Its word is beside it. */
export function SignOf({ sign }: { readonly sign: Sign }): JSX.Element {
  return (
    <svg class={`sign sign-${sign}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {shapes[sign]}
    </svg>
  );
}

/** The patterns of the bars: waiting is hatched. */
export function Patterns(): JSX.Element {
  return (
    <svg class="patterns" width="0" height="0" aria-hidden="true">
      <defs>
        <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="7" height="7" class="hatch-ground" />
          <rect width="3" height="7" class="hatch-line" />
        </pattern>
      </defs>
    </svg>
  );
}
