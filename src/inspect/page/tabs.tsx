import type { JSX } from "preact";

/** The parts of a run's page. */
export type Tab = "calls" | "prompts" | "policy" | "input";

const titles: Readonly<Record<Tab, string>> = {
  calls: "Calls",
  prompts: "Prompts",
  policy: "Policy",
  input: "Texts",
};
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the record are its tabs
const tabs = Object.keys(titles) as readonly Tab[];

const steps: Readonly<Record<string, (place: number) => number>> = {
  ArrowRight: (place) => (place + 1) % tabs.length,
  ArrowLeft: (place) => (place + tabs.length - 1) % tabs.length,
  Home: () => 0,
  End: () => tabs.length - 1,
};

interface TabsProps {
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
}

/** The names of the parts. One of them takes the focus, and arrows move to the others. */
export function Tabs({ tab, onTab }: TabsProps): JSX.Element {
  const onKey = (event: KeyboardEvent): void => {
    const next = tabs[steps[event.key]?.(tabs.indexOf(tab)) ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // otherwise the arrows would move through runs and rows
    onTab(next);
    document.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div role="tablist" aria-label="Parts of the run" onKeyDown={onKey}>
      {tabs.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          tabIndex={tab === name ? 0 : -1}
          aria-selected={tab === name}
          aria-controls="tab-panel"
          onClick={() => onTab(name)}
        >
          {titles[name]}
        </button>
      ))}
    </div>
  );
}
