import type { InspectedCall, InspectedInside, InspectedRun, InspectedTurn } from "../view.ts";

/** A row of the waterfall: a turn, a call of it, or a run inside a call. `level` counts from 1. */
export type WaterfallRow = { readonly key: string; readonly level: number } & (
  | { readonly type: "turn"; readonly turn: InspectedTurn; readonly isOpen: boolean }
  | { readonly type: "call"; readonly call: InspectedCall }
  | { readonly type: "run"; readonly run: InspectedInside; readonly isOpen: boolean }
);

type Whole = Pick<InspectedRun, "turns" | "inside">;

/** The rows of a run, without those inside closed rows. */
export function rowsOf(
  { turns, inside }: Whole,
  closed: ReadonlySet<string>,
  level = 1,
): readonly WaterfallRow[] {
  return [
    ...turns.flatMap((turn): readonly WaterfallRow[] => {
      const isOpen = !closed.has(turn.key);
      const row = { type: "turn", key: turn.key, level, turn, isOpen } as const;
      return isOpen ? [row, ...turn.calls.flatMap((call) => callRows(call, closed, level + 1))] : [row];
    }),
    ...runRows(inside, closed, level),
  ];
}

function callRows(call: InspectedCall, closed: ReadonlySet<string>, level: number): readonly WaterfallRow[] {
  return [{ type: "call", key: call.key, level, call }, ...runRows(call.inside ?? [], closed, level + 1)];
}

function runRows(
  runs: readonly InspectedInside[],
  closed: ReadonlySet<string>,
  level: number,
): readonly WaterfallRow[] {
  return runs.flatMap((run): readonly WaterfallRow[] => {
    const isOpen = !closed.has(run.key);
    const row = { type: "run", key: run.key, level, run, isOpen } as const;
    return isOpen ? [row, ...rowsOf(run, closed, level + 1)] : [row];
  });
}

/** True for a row that can be closed and opened. */
export const folds = (row: WaterfallRow): row is Extract<WaterfallRow, { readonly isOpen: boolean }> =>
  row.type !== "call";

/** The row around another one; undefined for a row of the first level. */
export function rowAround(rows: readonly WaterfallRow[], row: WaterfallRow): WaterfallRow | undefined {
  return rows.slice(0, rows.indexOf(row)).findLast(({ level }) => level < row.level);
}

/** All turns of a run, including those of runs inside. */
export const turnsIn = ({ turns, inside }: Whole): readonly InspectedTurn[] => [
  ...turns.flatMap((turn) => [turn, ...turn.calls.flatMap((call) => (call.inside ?? []).flatMap(turnsIn))]),
  ...inside.flatMap(turnsIn),
];
