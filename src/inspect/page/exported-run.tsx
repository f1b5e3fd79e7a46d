import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { InspectedRun } from "../view.ts";
import { useKeys } from "./keys.ts";
import { RunPage } from "./run-page.tsx";
import { Patterns } from "./signs.tsx";
import type { Tab } from "./tabs.tsx";
import { useTheme } from "./theme.ts";
import { Brand } from "./top-bar.tsx";

/** One run in a file of its own: it can be read, but not acted on. */
export function ExportedRun({ view }: { readonly view: InspectedRun }): JSX.Element {
  const [selected, setSelected] = useState<string | undefined>();
  const [tab, setTab] = useState<Tab>("calls");
  const [theme, nextTheme] = useTheme();
  const rows = useRef<readonly string[]>([]);
  const move = (by: number): void => {
    const now = rows.current.indexOf(selected ?? "");
    setSelected(rows.current[Math.min(rows.current.length - 1, Math.max(0, now + by))]);
  };
  useKeys({
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    Home: () => move(-Infinity),
    End: () => move(Infinity),
    Escape: () => setSelected(undefined),
    t: nextTheme,
    "1": () => setTab("calls"),
    "2": () => setTab("prompts"),
    "3": () => setTab("policy"),
    "4": () => setTab("input"),
  });
  return (
    <div class="app exported has-run">
      <Patterns />
      <header class="top">
        <Brand />
        <span class="store">a run as it was exported</span>
        <span class="grow" />
        <button type="button" aria-label={`Look: ${theme}`} onClick={nextTheme}>
          {theme}
        </button>
      </header>
      <div class="below">
        <main>
          <RunPage
            {...{ view, selected, tab }}
            acts={undefined}
            onSelect={setSelected}
            onTab={setTab}
            onRows={(keys) => void (rows.current = keys)}
          />
        </main>
      </div>
    </div>
  );
}
