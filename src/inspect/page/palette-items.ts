import type { ListedRun } from "../view.ts";
import type { KeyActs } from "./keys.ts";
import type { PaletteItem } from "./palette.tsx";
import type { Place } from "./route.ts";

interface Around {
  readonly place: Place;
  readonly go: (place: Place) => void;
  readonly runs: readonly ListedRun[];
  readonly keys: KeyActs;
}

/** The commands that work anywhere, and those about an open run, by their keys. */
const everywhere = {
  q: "Approvals",
  p: "Playground",
  "/": "Filter and search the runs",
  t: "Light or dark",
  "?": "Keys",
};
const aboutRun = {
  "1": "Calls over time",
  "2": "Prompts",
  "3": "Policy",
  "4": "Texts",
  f: "Fork the run",
  r: "Replay the run",
  c: "Mark the run to compare, or compare",
};

/** Everything that the palette offers: acts first, then the runs. */
export function itemsOf({ place, go, runs, keys }: Around): readonly PaletteItem[] {
  const isOpen = place.page === "runs" && place.run !== undefined;
  const acts = Object.entries(isOpen ? { ...aboutRun, ...everywhere } : everywhere);
  return [
    ...acts.map(([key, title]) => ({
      title,
      about: key,
      act: () => void keys[key]?.(new KeyboardEvent("keydown", { key })),
    })),
    { title: "All runs", about: "Esc", act: () => go({ page: "runs" }) },
    ...runs.map(({ id, agent, asked, status }) => ({
      title: asked === "" ? id : asked,
      about: `${status}, ${agent}, ${id}`,
      act: () => go({ page: "runs", run: id }),
    })),
  ];
}
