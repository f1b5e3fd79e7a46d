import type { JSX } from "preact";
import type { Place } from "./route.ts";
import type { Theme } from "./theme.ts";

interface TopBarProps {
  readonly place: Place;
  readonly go: (place: Place) => void;
  readonly store: string;
  readonly waiting: number;
  readonly marked: string | undefined;
  readonly mark: () => void;
  readonly theme: Theme;
  readonly nextTheme: () => void;
  readonly onHelp: () => void;
}

/** The bar above the page. */
export function TopBar({
  place,
  go,
  store,
  waiting,
  marked,
  mark,
  theme,
  nextTheme,
  onHelp,
}: TopBarProps): JSX.Element {
  const isOpen = place.page === "runs" && place.run !== undefined;
  return (
    <header class="top">
      <Brand />
      <span class="store">{store}</span>
      <span class="grow" />
      <button
        type="button"
        aria-current={place.page === "runs" ? "page" : undefined}
        onClick={() => go({ page: "runs" })}
      >
        Runs
      </button>
      <button
        type="button"
        aria-current={place.page === "queue" ? "page" : undefined}
        onClick={() => go({ page: "queue" })}
      >
        Approvals {waiting > 0 && <span class="badge">{waiting}</span>}
      </button>
      <button
        type="button"
        aria-current={place.page === "play" ? "page" : undefined}
        onClick={() => go({ page: "play" })}
      >
        Playground
      </button>
      {isOpen && (
        <button type="button" class="wide" onClick={mark}>
          {marked === undefined || marked === place.run ? "Mark to compare" : "Compare with the marked"}
        </button>
      )}
      <button type="button" class="wide" aria-label={`Look: ${theme}`} onClick={nextTheme}>
        {theme}
      </button>
      <button type="button" aria-label="Keys" onClick={onHelp}>
        ?
      </button>
    </header>
  );
}

/** The name of the page, with a seal. */
export function Brand(): JSX.Element {
  return (
    <span class="brand">
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <circle cx="10" cy="10" r="8.5" class="seal" />
        <path d="M5.2 7 7.6 13.2 10 8.4 12.4 13.2 14.8 7" class="seal-mark" />
      </svg>
      writ
    </span>
  );
}
