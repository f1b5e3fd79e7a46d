import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type TimeScale, timeScale } from "../time-scale.ts";
import type { CallSpan, InspectedCall, InspectedInside, InspectedRun, InspectedTurn } from "../view.ts";
import { Axis, inSight, moved, whole, type Zoom, zoomed } from "./axis.tsx";
import { folds, turnsIn, type WaterfallRow } from "./rows.ts";
import { SignOf } from "./signs.tsx";
import { steady } from "./steady.ts";
import { useRows } from "./virtual.ts";
import { countText, durationText, stateWords } from "./words.ts";

interface WaterfallProps {
  readonly view: InspectedRun;
  readonly rows: readonly WaterfallRow[];
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
  readonly onToggle: (key: string) => void;
}

const rowHeight = 34;
/** The level from which on rows do not go further to the right. */
const deepest = 7;

function busyIn(view: InspectedRun): readonly { readonly from: number; readonly to: number }[] {
  return turnsIn(view).flatMap(({ model, calls }) => [
    ...(model === undefined ? [] : [model]),
    ...calls.flatMap(({ spans }) => spans.filter(({ phase }) => phase === "executed")),
  ]);
}

/** The turns and calls of a run over time. Calls that ran beside each other stand beside each other. */
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

function Legend(): JSX.Element {
  return (
    <p class="legend">
      <span>
        <i class="swatch model" />
        model
      </span>
      <span>
        <i class="swatch executed" />
        ran
      </span>
      <span>
        <i class="swatch waited" />
        waited for a person
      </span>
      <span>
        <i class="swatch queued" />
        queued
      </span>
      <span>
        <i class="swatch refused" />
        refused
      </span>
      <span>
        <i class="swatch critical" />
        critical path
      </span>
    </p>
  );
}

interface RowProps {
  readonly row: WaterfallRow;
  readonly index: number;
  readonly scale: TimeScale;
  readonly zoom: Zoom;
  readonly critical: ReadonlySet<string>;
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

const turnWords = ({ number, calls }: InspectedTurn): readonly [string, string] => [
  `Turn ${number}`,
  calls.length === 0 ? "answer" : countText(calls.length, "call"),
];

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

/** The place of the text of a bar: behind it, before it, or in it, where there is room. */
function textPlace(
  begin: number,
  end: number,
): { readonly x: number; readonly shift: number; readonly anchor: "start" | "end" } {
  const needed = innerWidth < 760 ? 55 : 18;
  if (100 - end >= needed || 100 - end >= begin) return { x: end, shift: 6, anchor: "start" };
  if (begin >= needed / 2) return { x: begin, shift: -6, anchor: "end" };
  return { x: begin, shift: 8, anchor: "start" };
}

const thicknesses: Readonly<Partial<Record<RowSpan["phase"], number>>> = { queued: 2, inside: 6 };
const thickness = (phase: RowSpan["phase"]): number => thicknesses[phase] ?? 16;

/** The length of a bar in words. */
const spanText = ({ phase, from, to, isExact }: RowSpan): string => {
  const text = `${isExact ? "" : "≤ "}${durationText(to - from)}`;
  return phase === "queued" || phase === "waited" ? `${phase} ${text}` : text;
};

/** The bars of a row. Where none is recorded, a mark stands at the time at which the call was proposed. */
function Bars({ row, scale, zoom, critical }: RowProps): JSX.Element {
  const spans = spansIn(row);
  const isCritical = critical.has(row.type === "turn" ? `${row.key}/model` : row.key);
  const place = (time: number): number => inSight(scale.place(time), zoom);
  const last = spans.at(-1);
  const [begin, end] = last === undefined ? [0, 0] : [place(spans[0]?.from ?? last.from), place(last.to)];
  const at = textPlace(begin, end);
  return (
    <svg class="bars" width="100%" height={rowHeight} aria-hidden="true">
      {spans.map(({ phase, from, to, isExact }) => (
        <rect
          key={phase}
          class={`bar ${phase}${isCritical && phase !== "queued" ? " critical" : ""}${isExact ? "" : " vague"}`}
          x={`${place(from)}%`}
          y={(rowHeight - thickness(phase)) / 2}
          width={`${Math.max(0.25, place(to) - place(from))}%`}
          height={thickness(phase)}
          rx="3"
        />
      ))}
      {last !== undefined && (
        <text x={`${at.x}%`} dx={at.shift} y="21" text-anchor={at.anchor} class="bar-text">
          {spanText(last)}
        </text>
      )}
      {row.type === "call" && row.call.state === "refused" && spans.length === 0 && (
        <RefusedMark x={place(row.call.proposedAt)} />
      )}
    </svg>
  );
}

function RefusedMark({ x }: { readonly x: number }): JSX.Element {
  const isLate = x > (innerWidth < 760 ? 60 : 85);
  return (
    <svg x={`${x}%`} overflow="visible">
      <rect class="refused-mark" x={isLate ? -72 : 1} y="9" width="70" height="16" rx="3" />
      <text class="refused-text" x={isLate ? -37 : 36} y="21" text-anchor="middle">
        refused
      </text>
    </svg>
  );
}

/** The bars of a row in words. */
function barsText(row: WaterfallRow): string {
  const spans = spansIn(row);
  if (spans.length > 0) return spans.map(spanText).join(", ");
  if (row.type === "run") return "no time is recorded";
  return row.type === "call" ? stateWords[row.call.state] : "not recorded yet";
}

type RowSpan = Omit<CallSpan, "phase"> & { readonly phase: CallSpan["phase"] | "model" | "inside" };

function spansIn(row: WaterfallRow): readonly RowSpan[] {
  if (row.type === "call") return row.call.spans;
  if (row.type === "run")
    return row.run.to > row.run.from
      ? [{ phase: "inside", from: row.run.from, to: row.run.to, isExact: true }]
      : [];
  const { model } = row.turn;
  return model === undefined ? [] : [{ phase: "model", from: model.from, to: model.to, isExact: true }];
}
