import type { JSX } from "preact";
import type { TimeScale } from "../time-scale.ts";
import type { CallSpan, ModelSpan } from "../view.ts";
import { inSight, type Zoom } from "./axis.tsx";
import type { WaterfallRow } from "./rows.ts";
import { durationText, stateWords } from "./words.ts";

/** The height of a row of the waterfall, in pixels. */
export const rowHeight = 34;

/** The place of the text of a bar: after it, before it, or in it, where there is room. */
function textPlace(
  begin: number,
  end: number,
): { readonly x: number; readonly shift: number; readonly anchor: "start" | "end" } {
  const needed = innerWidth < 760 ? 55 : 18;
  if (100 - end >= needed || 100 - end >= begin) return { x: end, shift: 6, anchor: "start" };
  if (begin >= needed / 2) return { x: begin, shift: -6, anchor: "end" };
  return { x: begin, shift: 8, anchor: "start" };
}

const thicknesses: Readonly<Partial<Record<RowSpan["phase"], number>>> = {
  queued: 2,
  inside: 6,
  checked: 8,
  authorised: 8,
};
const thickness = (phase: RowSpan["phase"]): number => thicknesses[phase] ?? 16;

/** The words before the length of a bar. A bar without words is the main one of its row. */
const phaseWords: Readonly<Partial<Record<RowSpan["phase"], string>>> = {
  queued: "queued",
  waited: "waited",
  checked: "checked",
  authorised: "authorised",
  tried: "failed after",
  asked: "first word after",
};

/** The length of a bar in words. */
const spanText = ({ phase, from, to, isExact }: RowSpan): string => {
  const text = `${isExact ? "" : "≤ "}${durationText(to - from)}`;
  return [...(phaseWords[phase] === undefined ? [] : [phaseWords[phase]]), text].join(" ");
};

/** The text beside the bars: the length of the last; for a model, counted from its request. */
function besideText(row: WaterfallRow, last: RowSpan): string {
  const { model } = row.type === "turn" ? row.turn : {};
  return model === undefined ? spanText(last) : durationText(model.to - model.askedAt);
}

export interface BarsProps {
  readonly row: WaterfallRow;
  readonly scale: TimeScale;
  readonly zoom: Zoom;
  /** The keys of the spans on the critical path. */
  readonly critical: ReadonlySet<string>;
}

/** The bars of a row. If none is recorded, a mark shows the time at which the call was proposed. */
export function Bars({ row, scale, zoom, critical }: BarsProps): JSX.Element {
  const spans = spansIn(row);
  const isCritical = critical.has(row.type === "turn" ? `${row.key}/model` : row.key);
  const place = (time: number): number => inSight(scale.place(time), zoom);
  const last = spans.at(-1);
  const [begin, end] = last === undefined ? [0, 0] : [place(spans[0]?.from ?? last.from), place(last.to)];
  const at = textPlace(begin, end);
  return (
    <svg class="bars" width="100%" height={rowHeight} aria-hidden="true">
      {spans.map(({ phase, from, to, isExact }, index) => (
        <rect
          key={index}
          class={`bar ${phase}${isCritical && phase !== "queued" ? " critical" : ""}${isExact ? "" : " vague"}`}
          x={`${place(from)}%`}
          y={(rowHeight - thickness(phase)) / 2}
          width={`${Math.max(0.25, place(to) - place(from))}%`}
          height={thickness(phase)}
          rx="3"
        />
      ))}
      {last !== undefined && !isRefused(row) && (
        <text x={`${at.x}%`} dx={at.shift} y="21" text-anchor={at.anchor} class="bar-text">
          {besideText(row, last)}
        </text>
      )}
      {row.type === "call" && row.call.decidedAt !== undefined && (
        <rect class="decided-mark" x={`${place(row.call.decidedAt)}%`} y="5" width="1.5" height="24" />
      )}
      {isRefused(row) && <RefusedMark x={place(row.call.decidedAt ?? row.call.proposedAt)} />}
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

const isRefused = (row: WaterfallRow): row is Extract<WaterfallRow, { readonly type: "call" }> =>
  row.type === "call" && row.call.state === "refused";

/** The bars of a row in words, including the words that are visible. */
export function barsText(row: WaterfallRow): string {
  const spans = spansIn(row);
  const last = spans.at(-1);
  if (last !== undefined) {
    const seen = isRefused(row) ? stateWords.refused : besideText(row, last);
    return [...spans.map(spanText).filter((text) => text !== seen), seen].join(", ");
  }
  if (row.type === "run") return "no time is recorded";
  return row.type === "call" ? stateWords[row.call.state] : "not recorded yet";
}

type RowSpan = Omit<CallSpan, "phase"> & {
  readonly phase: CallSpan["phase"] | "model" | "tried" | "asked" | "inside";
};

function spansIn(row: WaterfallRow): readonly RowSpan[] {
  if (row.type === "call") return row.call.spans;
  if (row.type === "run")
    return row.run.to > row.run.from
      ? [{ phase: "inside", from: row.run.from, to: row.run.to, isExact: true }]
      : [];
  const { model } = row.turn;
  return model === undefined ? [] : modelSpans(model);
}

/** The bars of a question to the model: the failed requests, the wait for the first piece of the reply, and the reply. */
function modelSpans({ tries, askedAt, firstAt, to }: ModelSpan): readonly RowSpan[] {
  return [
    ...tries.map((each) => ({ phase: "tried" as const, ...each, isExact: true })),
    ...(firstAt === undefined
      ? []
      : [{ phase: "asked" as const, from: askedAt, to: firstAt, isExact: true }]),
    { phase: "model", from: firstAt ?? askedAt, to, isExact: true },
  ];
}
