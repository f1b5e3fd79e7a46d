/** Lines of cells, each as wide as the widest of its column. The columns in `right` are aligned to the right. */
export function table(rows: readonly (readonly string[])[], right: ReadonlySet<number> = new Set()): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return right.has(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  "),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

/** A share as a percentage with one decimal, for tables; `-` if there is none. */
export function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? "-" : (share * 100).toFixed(1);
}
