import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ListedRun } from "../view.ts";
import type { Acts } from "./acts.ts";
import { type Api, type Overview, RefusedRequest, troubleText } from "./api.ts";
import { ComparePage } from "./compare-page.tsx";
import { Help } from "./help.tsx";
import { clickOn, focusOn, type KeyActs, useChord, useKeys } from "./keys.ts";
import { useRun, useRuns } from "./known-runs.ts";
import { Palette } from "./palette.tsx";
import { itemsOf } from "./palette-items.ts";
import { PlayPage } from "./play-page.tsx";
import { QueuePage } from "./queue-page.tsx";
import { type Place, titleOf, usePlace } from "./route.ts";
import { RunList } from "./run-list.tsx";
import { RunPage } from "./run-page.tsx";
import { Patterns } from "./signs.tsx";
import type { Tab } from "./tabs.tsx";
import { useTheme } from "./theme.ts";
import { TopBar } from "./top-bar.tsx";

/** The entries of the page's lists, for the keys that move through them. */
interface Lists {
  runs: readonly ListedRun[];
  rows: readonly string[];
}

/** The whole page. */
export function App({ api }: { readonly api: Api }): JSX.Element {
  const known = useRuns(api);
  const [place, go] = usePlace();
  const [theme, nextTheme] = useTheme();
  const [hasHelp, setHelp] = useState(false);
  const [marked, setMarked] = useState<string | undefined>();
  const lists = useRef<Lists>({ runs: [], rows: [] }).current;
  const open = place.page === "runs" ? place.run : undefined;
  const mark = (): void => {
    if (open !== undefined && marked !== undefined && marked !== open)
      go({ page: "compare", runs: [marked, open] });
    setMarked(marked === undefined ? open : undefined);
  };
  const [hasPalette, setPalette] = useState(false);
  useChord("k", () => setPalette(true));
  const keys: KeyActs = {
    ...movingKeys({ place, go, lists }),
    "?": () => setHelp(true),
    "/": () => focusOn("#filter"),
    t: nextTheme,
    q: () => go({ page: "queue" }),
    p: () => go({ page: "play" }),
    c: mark,
    a: () => focusOn("[data-act=approve]"),
    d: () => focusOn("[data-act=refuse]"),
    f: () => clickOn("[data-act=fork]"),
    r: () => clickOn("[data-act=replay]"),
  };
  useKeys(keys);
  const waiting = known.runs.reduce((sum, run) => sum + run.waiting, 0);
  const onSelect = (run: string): void => go({ page: "runs", run });
  useEffect(() => void (document.title = titleOf(place)), [place]);
  return (
    <div class={`app page-${place.page}${open === undefined ? "" : " has-run"}`}>
      <Patterns />
      <TopBar
        {...{ place, go, waiting, theme, nextTheme, marked, mark }}
        store={known.overview?.place ?? ""}
        onHelp={() => setHelp(true)}
      />
      <div class="below">
        <RunList
          {...{ api, marked, onSelect }}
          runs={known.runs}
          selected={open}
          onShown={(runs) => void (lists.runs = runs)}
        />
        <Main {...{ api, place, go, known, lists, onSelect }} />
      </div>
      {hasPalette && (
        <Palette items={itemsOf({ place, go, runs: known.runs, keys })} onClose={() => setPalette(false)} />
      )}
      {hasHelp && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

interface MainProps {
  readonly api: Api;
  readonly place: Place;
  readonly go: (place: Place) => void;
  readonly known: ReturnType<typeof useRuns>;
  readonly lists: Lists;
  readonly onSelect: (run: string) => void;
}

/** The part of the page beside the list. */
function Main({ api, place, go, known, lists, onSelect }: MainProps): JSX.Element {
  const { overview, runs, trouble, change } = known;
  const id = place.page === "runs" ? place.run : undefined;
  const listed = runs.find((run) => run.id === id);
  const { view, trouble: runTrouble } = useRun(api, id, listed);
  const [late, setLate] = useState<string | undefined>();
  useEffect(() => setLate(undefined), [place.page, id]);
  const actsOf = useMemo(
    () => actsIn(api, overview, { onForked: onSelect, onLate: setLate }),
    [api, overview, place],
  );
  const told = trouble ?? runTrouble ?? late;
  return (
    <main tabIndex={-1}>
      {told !== undefined && (
        <p class="notice trouble" role="alert">
          {told}
        </p>
      )}
      {place.page === "queue" && <QueuePage {...{ api, actsOf, change }} onOpen={onSelect} />}
      {place.page === "play" && overview !== undefined && (
        <PlayPage {...{ api, actsOf, runs }} agents={overview.agents} onOpen={onSelect} />
      )}
      {place.page === "compare" && (
        <ComparePage key={place.runs.join("\n")} api={api} ids={place.runs} onOpen={onSelect} />
      )}
      {place.page === "runs" && id === undefined && told === undefined && <Welcome count={runs.length} />}
      {place.page === "runs" && view !== undefined && (
        <RunPage
          key={view.run.id}
          view={view}
          selected={place.call}
          tab={place.tab ?? "calls"}
          acts={actsOf(view.run.agent)}
          onSelect={(call) => go({ ...place, call })}
          onTab={(tab) => go({ ...place, tab })}
          onExport={() => void download(api, view.run.id)}
          onRows={(rows) => void (lists.rows = rows)}
          onBack={() => go({ page: "runs" })}
        />
      )}
    </main>
  );
}

function Welcome({ count }: { readonly count: number }): JSX.Element {
  return (
    <div class="welcome">
      <h1>{count === 0 ? "No runs yet" : "Choose a run"}</h1>
      <p>
        {count === 0
          ? "Runs appear here as soon as they begin: writ run agent.ts --durable “…”"
          : "j and k go through the list, Enter opens, / searches, ? shows all keys."}
      </p>
    </div>
  );
}

/** The receivers of what acts bring about. */
interface Told {
  readonly onForked: (id: string) => void;
  /** Given the reason why an answer did not count whose question is gone from the page, or nothing. */
  readonly onLate: (text: string | undefined) => void;
}

/** The acts on runs of an agent. */
function actsIn(
  api: Api,
  overview: Overview | undefined,
  { onForked, onLate }: Told,
): (agent: string) => Acts {
  return (agent) => ({
    cannot:
      overview === undefined || overview.agents.includes(agent)
        ? undefined
        : `This page can only look: it has no program of “${agent}”. Start it with that, writ inspect agent.ts, to answer, replay and fork; or answer with writ approvals.`,
    async answer(run, answer) {
      onLate(undefined);
      try {
        await api.answer(run, answer);
      } catch (error) {
        if (error instanceof RefusedRequest && error.status === 409) onLate(troubleText(error));
        throw error;
      }
    },
    policy: (name) => api.policy(name),
    tryPolicy: (run, policy) => api.tryPolicy(run, policy),
    replay: (run) => api.replay(run),
    fork: async (run, wanted) => onForked(await api.fork(run, wanted)),
  });
}

async function download(api: Api, id: string): Promise<void> {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await api.exported(id));
  link.download = `${id.replaceAll(/[^\w.-]/g, "-")}.html`;
  link.click();
  URL.revokeObjectURL(link.href);
}

interface Moving {
  readonly place: Place;
  readonly go: (place: Place) => void;
  readonly lists: Lists;
}

/** The keys that move through the runs, or, once a row is chosen, through the rows of an open run. */
function movingKeys({ place, go, lists }: Moving): KeyActs {
  const isOpen = place.page === "runs" && place.run !== undefined;
  const isText = place.page !== "runs" || (place.tab !== undefined && place.tab !== "calls"); // arrows scroll it
  const inRun = isOpen && !isText && place.call !== undefined;
  const move = (by: number): void => {
    if (place.page !== "runs") return;
    const ids = inRun ? lists.rows : lists.runs.map(({ id }) => id);
    const now = ids.indexOf((inRun ? place.call : place.run) ?? "");
    const next = ids[Math.min(ids.length - 1, Math.max(0, now + by))];
    if (next !== undefined) go(inRun ? { ...place, call: next } : { page: "runs", run: next });
  };
  const arrow = (by: number) => (): void | boolean => (isText ? false : move(by));
  const enter = (): void => {
    if (place.page !== "runs" || place.run === undefined) move(1);
    else if (!inRun) go({ ...place, tab: undefined, call: lists.rows[0] });
  };
  const escape = (): void => {
    if (inRun) go({ ...place, call: undefined });
    else go({ page: "runs" });
  };
  const tab = (name: Tab) => (): void => {
    if (place.page === "runs" && place.run !== undefined) {
      go({ ...place, tab: name });
      focusOn("#tab-panel"); // arrows scroll the chosen part
    }
  };
  return {
    j: () => move(1),
    ArrowDown: arrow(1),
    k: () => move(-1),
    ArrowUp: arrow(-1),
    Home: arrow(-Infinity),
    End: arrow(Infinity),
    Enter: enter,
    Escape: escape,
    "1": tab("calls"),
    "2": tab("prompts"),
    "3": tab("policy"),
    "4": tab("input"),
  };
}
