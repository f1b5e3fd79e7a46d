/**
 * Tries on this machine what code can reach that it was not given, and writes docs/escape-table.md. Run: npm run escape-table [-- --check]
 * With --check it writes nothing: it exits with 1 when a cell is not what the page says, or when code that is isolated reached something. What
 * cannot be tried here is passed over, and said.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Column, columns, measure, type Measured } from "./escape/measure.ts";

const page = new URL("../docs/escape-table.md", import.meta.url);
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });

const words = { reached: "**reached**", inside: "inside", held: "held" } as const;
const headings: Readonly<Record<Column, string>> = {
  through: "mediated: through handles",
  around: "mediated: around them",
  bwrap: "isolated (linux-bwrap)",
  quickjs: "isolated (quickjs)",
};

function cellsOf({ rows, missing }: Measured): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...rows].map(([row, found]) => [
      row,
      columns.map((column) => {
        const value = found[column];
        return missing.has(column) ? "?" : value === undefined ? "–" : words[value];
      }),
    ]),
  );
}

/** The cells of the page as it stands. */
function cellsOfPage(): ReadonlyMap<string, readonly string[]> {
  const lines = readFileSync(page, "utf8").split("\n");
  const rows = lines.filter((line) => /^\| (?!-)/.test(line)).slice(1);
  return new Map(
    rows.map((line) => {
      const [row = "", ...cells] = line
        .split("|")
        .map((cell) => cell.trim())
        .slice(1, -1);
      return [row, cells];
    }),
  );
}

function table(cells: ReadonlyMap<string, readonly string[]>): string {
  const names = columns.map((column) => headings[column]);
  const lines = [
    ["what is tried", ...names],
    ["---", ...names.map(() => "---")],
  ];
  for (const [row, found] of cells) lines.push([row, ...found]);
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** Where code that is isolated got out, and where the page says something else. */
function complaints(measured: Measured, cells: ReadonlyMap<string, readonly string[]>): string[] {
  const escaped = [...measured.rows].flatMap(([row, found]) =>
    (["bwrap", "quickjs"] as const)
      .filter((column) => found[column] === "reached")
      .map((column) => `${headings[column]} does not hold: ${row}`),
  );
  if (!values.check) return escaped;
  const written = cellsOfPage();
  const changed = [...cells].flatMap(([row, found]) =>
    found.flatMap((cell, index) => {
      const before = written.get(row)?.[index] ?? "nothing";
      const heading = headings[columns[index] ?? "through"];
      return cell === "?" || cell === before
        ? []
        : [`${row}, ${heading}: ${cell}, and the page says ${before}`];
    }),
  );
  const gone = [...written.keys()]
    .filter((row) => !cells.has(row))
    .map((row) => `${row}: is not tried any more`);
  return [...escaped, ...changed, ...gone];
}

const measured = await measure();
for (const [column, reason] of measured.missing) console.log(`${headings[column]} is not tried: ${reason}`);
const cells = cellsOf(measured);
const wrong = complaints(measured, cells);
for (const complaint of wrong) console.error(complaint);
if (wrong.length > 0) process.exitCode = 1;
else if (values.check) console.log(`${cells.size} rows are as the page says`);
else if (measured.missing.size > 0) {
  console.error("The page was not written: a column is missing.");
  process.exitCode = 1;
} else {
  const text = readFileSync(page, "utf8");
  const [before = "", rest = ""] = text.split("<!-- measured -->\n");
  const [, after = ""] = rest.split("<!-- end -->\n");
  writeFileSync(page, `${before}<!-- measured -->\n\n${table(cells)}\n\n<!-- end -->\n${after}`);
  console.log(`${cells.size} rows written to docs/escape-table.md`);
}
