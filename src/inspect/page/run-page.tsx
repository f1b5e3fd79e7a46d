import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { InspectedRun } from "../view.ts";
import type { Acts } from "./acts.ts";
import { AsTest } from "./as-test.tsx";
import { Budgets } from "./budgets.tsx";
import { CallDrawer } from "./call-drawer.tsx";
import { ForkForm } from "./fork-form.tsx";
import { type KeyActs, useKeys } from "./keys.ts";
import { Part } from "./parts.tsx";
import { PolicyView } from "./policy-view.tsx";
import { PromptView } from "./prompt-view.tsx";
import { ReplayPart } from "./replay-part.tsx";
import { SignOf } from "./signs.tsx";
import { folds, rowAround, rowsOf, type WaterfallRow } from "./rows.ts";
import { type Tab, Tabs } from "./tabs.tsx";
import { InsideDrawer, TurnDrawer } from "./turn-drawer.tsx";
import { Waterfall } from "./waterfall.tsx";
import { durationText, lineText, shownValue, signOf, timeText } from "./words.ts";

interface RunPageProps {
  readonly view: InspectedRun;
  readonly selected: string | undefined;
  readonly tab: Tab;
  readonly acts: Acts | undefined;
  readonly onSelect: (key: string | undefined) => void;
  readonly onTab: (tab: Tab) => void;
  readonly onExport?: () => void;
  readonly onRows: (keys: readonly string[]) => void;
  readonly onBack?: () => void;
}

/** One run. */
export function RunPage({
  view,
  selected,
  tab,
  acts,
  onSelect,
  onTab,
  onExport,
  onRows,
  onBack,
}: RunPageProps): JSX.Element {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [unfolded, setUnfolded] = useState<"fork" | "replay" | undefined>();
  const rows = useMemo(() => rowsOf(view, closed), [view, closed]);
  useEffect(() => onRows(rows.map(({ key }) => key)), [rows]);
  const row = rows.find(({ key }) => key === selected);
  const toggle = (key: string): void => setClosed(closed.symmetricDifference(new Set([key])));
  useKeys(tab === "calls" && row !== undefined ? foldingKeys({ rows, row, toggle, onSelect }) : {});
  return (
    <div class={`run-page${row === undefined || tab !== "calls" ? "" : " with-drawer"}`}>
      <div class="run-main">
        <Head view={view} onBack={onBack} />
        <NoAnswer view={view} />
        {view.notes.map((note) => (
          <p key={note} class="notice">
            {note}
          </p>
        ))}
        <Budgets budgets={view.budgets} />
        <div class="tabs">
          <Tabs tab={tab} onTab={onTab} />
          <span class="grow" />
          <span class="buttons">
            {acts !== undefined &&
              (
                [
                  ["replay", "Replay"],
                  ["fork", "Fork…"],
                ] as const
              ).map(([name, title]) => (
                <button
                  key={name}
                  type="button"
                  class="act"
                  data-act={name}
                  aria-expanded={unfolded === name}
                  onClick={() => setUnfolded(unfolded === name ? undefined : name)}
                >
                  {title}
                </button>
              ))}
            <AsTest view={view} />
            {onExport !== undefined && (
              <button type="button" class="act" onClick={onExport}>
                Export
              </button>
            )}
          </span>
        </div>
        {unfolded === "fork" && acts !== undefined && (
          <ForkForm view={view} acts={acts} turn={turnOf(selected)} onDone={() => setUnfolded(undefined)} />
        )}
        {unfolded === "replay" && acts !== undefined && <ReplayPart {...{ view, acts, onSelect }} />}
        <div
          id="tab-panel"
          role="tabpanel"
          aria-labelledby={`tab-${tab}`}
          tabIndex={tab === "calls" ? -1 : 0}
        >
          {tab === "calls" && <Waterfall {...{ view, rows, selected, onSelect }} onToggle={toggle} />}
          <OtherTab {...{ view, tab, acts }} />
        </div>
      </div>
      {tab === "calls" && row !== undefined && (
        <RowDrawer {...{ view, acts, row }} onClose={() => onSelect(undefined)} />
      )}
    </div>
  );
}

interface RowDrawerProps extends Pick<RunPageProps, "view" | "acts"> {
  readonly row: WaterfallRow;
  readonly onClose: () => void;
}

function RowDrawer({ view, acts, row, onClose }: RowDrawerProps): JSX.Element {
  if (row.type === "call") return <CallDrawer {...{ view, acts, onClose }} call={row.call} />;
  if (row.type === "run") return <InsideDrawer {...{ onClose }} run={row.run} />;
  return <TurnDrawer {...{ view, onClose }} turn={row.turn} />;
}

interface Folding {
  readonly rows: readonly WaterfallRow[];
  readonly row: WaterfallRow;
  readonly toggle: (key: string) => void;
  readonly onSelect: (key: string) => void;
}

/** The keys that open and close the chosen row, or go to the row around it, as in any tree. */
function foldingKeys({ rows, row, toggle, onSelect }: Folding): KeyActs {
  const isOpen = folds(row) && row.isOpen;
  return {
    ArrowRight: () => (folds(row) && !row.isOpen ? toggle(row.key) : false),
    ArrowLeft() {
      if (isOpen) return toggle(row.key);
      const around = rowAround(rows, row);
      return around === undefined ? false : onSelect(around.key);
    },
  };
}

function OtherTab({ view, tab, acts }: Pick<RunPageProps, "view" | "tab" | "acts">): JSX.Element | null {
  if (tab === "prompts") return <PromptView key={view.run.id} view={view} />;
  if (tab === "policy") return <PolicyView key={view.run.id} view={view} acts={acts} />;
  return tab === "input" ? <InputAndAnswer view={view} /> : null;
}

const turnOf = (key: string | undefined): number => Number(/^turn\/(\d+)/.exec(key ?? "")?.[1] ?? 1);

function Head({
  view,
  onBack,
}: {
  readonly view: InspectedRun;
  readonly onBack: (() => void) | undefined;
}): JSX.Element {
  const { run, from, to, source, fork } = view;
  return (
    <header class="run-head">
      {onBack !== undefined && (
        <button type="button" class="plain back" onClick={onBack}>
          ← Runs
        </button>
      )}
      <h1>{run.asked === "" ? run.id : shownValue(run.asked)}</h1>
      <p class="line">
        <span class="state" role="status">
          <SignOf sign={signOf(run.status)} /> <strong>{run.status}</strong>
        </span>
        <span>{run.agent}</span>
        <span class="id">{run.id}</span>
        <span>{durationText(to - from)}</span>
        <span class="quiet">{timeText(from)}</span>
        {fork !== undefined && (
          <span class="tag">
            fork of {fork.run} before turn {fork.beforeTurn}
          </span>
        )}
        <span class="tag">
          {source === "replay" ? "replayed with its program" : "from the records alone"}
        </span>
      </p>
    </header>
  );
}

/** The reason why a run that has ended has no answer. */
function NoAnswer({ view: { outcome } }: { readonly view: InspectedRun }): JSX.Element | null {
  if (outcome === undefined || outcome.type === "answered") return null;
  return (
    <p class="notice trouble no-answer">
      <strong>{outcome.type}</strong>: {lineText(outcome.text)}
    </p>
  );
}

function InputAndAnswer({ view }: { readonly view: InspectedRun }): JSX.Element {
  const { input, outcome, remarks } = view;
  return (
    <div class="texts">
      <Part title="Input">
        <pre tabIndex={0}>{shownValue(input)}</pre>
      </Part>
      {outcome !== undefined && (
        <Part title={outcome.type === "answered" ? "Answer" : `No answer: ${outcome.type}`}>
          <pre tabIndex={0}>{shownValue(outcome.text)}</pre>
        </Part>
      )}
      {remarks.length > 0 && (
        <Part title="Remarks">
          <ul>
            {remarks.map(({ turn, text }, index) => (
              <li key={index}>
                {turn === 0 ? "" : `Turn ${turn}: `}
                {text}
              </li>
            ))}
          </ul>
        </Part>
      )}
    </div>
  );
}
