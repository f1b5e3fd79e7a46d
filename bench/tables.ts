/** The figures of all peers as Markdown tables. */
import type { Figure } from "./bench-case.ts";
import { median } from "./measure.ts";

/** What one peer gave in one case and size, over the rounds. */
export interface Cell {
  readonly group: string;
  readonly name: string;
  readonly size: number;
  readonly peer: string;
  readonly rounds: (readonly Figure[])[];
  error?: string;
}

interface Row {
  readonly title: string;
  readonly higherIsBetter: boolean;
  readonly values: ReadonlyMap<string, number | "error">;
}

/** One table for each group, its errors below it. */
export function tables(cells: readonly Cell[], peers: readonly string[]): string {
  const groups = Map.groupBy(cells, ({ group }) => group);
  return [...groups].map(([group, members]) => table(group, members, peers)).join("\n\n");
}

function table(group: string, cells: readonly Cell[], peers: readonly string[]): string {
  const lines = [
    `### ${group}`,
    "",
    "In brackets: how many times worse than writ, than the floor.",
    "",
    `| | ${peers.join(" | ")} |`,
    `|---|${peers.map(() => "--:|").join("")}`,
  ];
  for (const members of Map.groupBy(cells, ({ name, size }) => `${name} ${size}`).values()) {
    for (const row of rowsOf(members))
      lines.push(`| ${row.title} | ${peers.map((peer) => shown(row, peer)).join(" | ")} |`);
  }
  const errors = cells.flatMap(({ name, size, peer, error }) =>
    error === undefined ? [] : [`- ${peer}, ${name} ${size}: ${error}`],
  );
  return [...lines, ...(errors.length > 0 ? ["", ...errors] : [])].join("\n");
}

function rowsOf(cells: readonly Cell[]): readonly Row[] {
  const [first] = cells;
  const figures = cells.find(({ rounds }) => rounds.length > 0)?.rounds[0];
  if (first === undefined) return [];
  const size = first.size === 0 ? "" : ` ${first.size.toLocaleString("en-US").replaceAll(",", " ")}`;
  if (figures === undefined)
    return [{ title: `${first.name}${size}`, higherIsBetter: false, values: valuesOf(cells, "") }];
  return figures.map(({ label, higherIsBetter = false }) => {
    return { title: `${first.name}${size}: ${label}`, higherIsBetter, values: valuesOf(cells, label) };
  });
}

function valuesOf(cells: readonly Cell[], label: string): ReadonlyMap<string, number | "error"> {
  return new Map(
    cells.map(({ peer, rounds, error }) => {
      const values = rounds.flatMap((figures) =>
        figures.filter((figure) => figure.label === label).map(({ value }) => value),
      );
      return [peer, error === undefined && values.length > 0 ? median(values) : "error"];
    }),
  );
}

function shown({ values, higherIsBetter }: Row, peer: string): string {
  const value = values.get(peer);
  if (value === undefined) return "";
  if (value === "error") return "error";
  const ratios = ["writ", "floor"].map((other) => {
    const base = values.get(other);
    if (other === peer || base === undefined || base === "error" || base === 0 || value === 0) return "–";
    return short(higherIsBetter ? base / value : value / base);
  });
  return `${short(value)} (${ratios.join(", ")})`;
}

function short(value: number): string {
  if (value >= 99.5) return Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return value >= 9.95 ? value.toFixed(0) : value >= 0.995 ? value.toFixed(1) : value.toFixed(2);
}
