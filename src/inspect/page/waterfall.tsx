import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { timeScale } from "../time-scale.ts";
import type { CallSpan, InspectedCall, InspectedInside, InspectedRun, InspectedTurn } from "../view.ts";
import { Axis, moved, whole, zoomed } from "./axis.tsx";
import { Bars, type BarsProps, barsText, rowHeight } from "./bars.tsx";
import { folds, turnsIn, type WaterfallRow } from "./rows.ts";
import { SignOf } from "./signs.tsx";
import { steady } from "./steady.ts";
import { useRows } from "./virtual.ts";
import { countText, stateWords } from "./words.ts";

interface WaterfallProps {
  readonly view: InspectedRun;
  readonly rows: readonly WaterfallRow[];
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
  readonly onToggle: (key: string) => void;
}

/** The level from which rows are not indented further. */
const deepest = 7;

const idle: ReadonlySet<CallSpan["phase"]> = new Set(["waited", "queued"]);

function busyIn(view: InspectedRun): readonly { readonly from: number; readonly to: number }[] {
  return turnsIn(view).flatMap(({ model, calls }) => [
    ...(model === undefined ? [] : [model]),
    ...calls.flatMap(({ spans }) => spans.filter(({ phase }) => !idle.has(phase))),
  ]);
}

/** The turns and calls of a run over time. Calls that ran at the same time are drawn side by side. */
export function Waterfall({ view, rows, selected, onSelect, onToggle }: WaterfallProps): JSX.Element {
  const [isTrue, setTrue] = useState(false);
  const [zoom, setZoom] = useState(whole);
  const scale = useMemo(() => timeScale(view.from, view.to, { busy: busyIn(view), isTrue }), [view, isTrue]);
  const critical = useMemo(() => new Set(view.critical), [view]);
  const { box, first, last, show } = useRows(rows.length, rowHeight);
  const place = rows.findIndex(({ key }) => key === selected);
  useEffect(() => (place < 0 ? undefined : show(place)), [selected]);
  const folds = scale.segments.filter(({ isFolded }) => isFolded).length;
  return (
    <section class="waterfall" aria-label="Calls over time">
      <div class="tools">
        <Legend />
        <span class="grow" />
        {(folds > 0 || isTrue) && (
          <label>
            <input type="checkbox" checked={isTrue} onChange={() => setTrue(!isTrue)} /> true scale
          </label>
        )}
        <span class="buttons" role="group" aria-label="Zoom">
          <button type="button" aria-label="Earlier" onClick={() => setZoom(moved(zoom, -0.5))}>
            ←
          </button>
          <button type="button" aria-label="Zoom out" onClick={() => setZoom(zoomed(zoom, 2))}>
            −
          </button>
          <button type="button" aria-label="Zoom in" onClick={() => setZoom(zoomed(zoom, 0.5))}>
            +
          </button>
          <button type="button" aria-label="Later" onClick={() => setZoom(moved(zoom, 0.5))}>
            →
          </button>
        </span>
      </div>
      <Axis scale={scale} zoom={zoom} from={view.from} />
      <div
        class="rows"
        ref={box}
        role="treegrid"
        aria-label="Turns and calls"
        aria-rowcount={rows.length}
        aria-activedescendant={place >= first && place < last ? rowId(place) : undefined}
        tabIndex={0}
      >
        <div class="spacer" style={{ height: `${rows.length * rowHeight}px` }} role="rowgroup">
          {rows.slice(first, last).map((row, index) => (
            <SteadyRow
              key={row.key}
              {...{ row, scale, zoom, critical, onSelect, onToggle }}
              index={first + index}
              isSelected={row.key === selected}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

/** The classes of the drawing, each with its words. */
const legend = {
  asked: "until the first word",
  model: "model",
  tried: "failed request",
  checked: "arguments checked",
  authorised: "hooks and policy",
  decided: "decided",
  executed: "ran",
  waited: "waited",
  queued: "queued",
  refused: "refused",
  critical: "critical path",
};

function Legend(): JSX.Element {
  return (
    <p class="legend">
      {Object.entries(legend).map(([name, words]) => (
        <span key={name}>
          <i class={`swatch ${name}`} />
          {words}
        </span>
      ))}
    </p>
  );
}

interface RowProps extends BarsProps {
  readonly index: number;
  readonly isSelected: boolean;
  readonly onSelect: (key: string) => void;
  readonly onToggle: (key: string) => void;
}

const rowId = (index: number): string => `row-${index}`;

function Row(props: RowProps): JSX.Element {
  const { row, index, isSelected, onSelect } = props;
  const state = row.type === "call" ? row.call.state : row.type;
  return (
    <div
      id={rowId(index)}
      class={`row row-${state} level-${Math.min(row.level, deepest)}${isSelected ? " selected" : ""}`}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
      role="row"
      aria-level={row.level}
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      {...(folds(row) ? { "aria-expanded": row.isOpen } : {})}
      onClick={() => onSelect(row.key)}
    >
      {folds(row) ? <FoldedLabel row={row} onToggle={props.onToggle} /> : <CallLabel call={row.call} />}
      <div class="track" role="gridcell" aria-label={barsText(row)}>
        <Bars {...props} />
      </div>
    </div>
  );
}

const SteadyRow = steady(Row);

function FoldedLabel({
  row,
  onToggle,
}: Pick<RowProps, "onToggle"> & {
  readonly row: Extract<WaterfallRow, { readonly isOpen: boolean }>;
}): JSX.Element {
  const [name, about] = row.type === "turn" ? turnWords(row.turn) : runWords(row.run);
  const toggle = (event: Event): void => {
    event.stopPropagation();
    onToggle(row.key);
  };
  return (
    <div class="label" role="rowheader">
      <button
        type="button"
        class="fold-button"
        tabIndex={-1}
        aria-label={`${row.isOpen ? "Close" : "Open"} ${name}`}
        onClick={toggle}
      >
        {row.isOpen ? "▾" : "▸"}
      </button>
      <strong>{name}</strong>
      <span class="quiet">{about}</span>
    </div>
  );
}

function turnWords({ number, calls, model }: InspectedTurn): readonly [string, string] {
  const about =
    calls.length > 0 ? countText(calls.length, "call") : model === undefined ? "no reply" : "answer";
  return [`Turn ${number}`, about];
}

const runWords = ({ agent, outcome, turns }: InspectedInside): readonly [string, string] => [
  agent,
  outcome ?? (turns.length === 0 ? "" : countText(turns.length, "turn")),
];

function CallLabel({ call: { tool, state } }: { readonly call: InspectedCall }): JSX.Element {
  return (
    <div class="label call-label" role="rowheader">
      <SignOf sign={state} />
      <code>{tool}</code>
      <span class={`word word-${state}`}>{stateWords[state]}</span>
    </div>
  );
}
