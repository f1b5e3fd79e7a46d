/**
 * Tries on this machine what code can reach that it was not given, and writes docs/escape-table.md. Run: npm run escape-table [-- --check]
 * With --check it writes nothing: it exits with 1 when a cell differs from the page, or when isolated code reached something. It skips what
 * cannot be tried here, and says so.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { answerColumns, type AnswerColumn, measureAnswers } from "./escape/answers.ts";
import { type Column, columns, measure } from "./escape/measure.ts";

const page = new URL("../docs/escape-table.md", import.meta.url);
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });

const words = { reached: "**reached**", inside: "inside", held: "held" } as const;
const headings: Readonly<Record<Column, string>> = {
  through: "mediated: through handles",
  around: "mediated: around them",
  bwrap: "isolated (linux-bwrap)",
  quickjs: "isolated (quickjs)",
};

/** A table of the page, between its two marks. */
interface Table {
  readonly marks: readonly [begin: string, end: string];
  readonly headings: readonly string[];
  readonly cells: ReadonlyMap<string, readonly string[]>;
}

function cellsOf<Name extends string>(
  rows: ReadonlyMap<string, Readonly<Partial<Record<Name, keyof typeof words>>>>,
  names: readonly Name[],
  missing: ReadonlySet<string>,
): Table["cells"] {
  return new Map(
    [...rows].map(([row, found]) => [
      row,
      names.map((column) => {
        const value = found[column];
        return missing.has(column) ? "?" : value === undefined ? "–" : words[value];
      }),
    ]),
  );
}

/** The parts of the page before, in and after a table. */
function partsOf(text: string, [begin, end]: Table["marks"]): readonly [string, string, string] {
  const [before = "", rest = ""] = text.split(`${begin}\n`);
  const [inside = "", after = ""] = rest.split(`${end}\n`);
  return [before, inside, after];
}

/** The cells of a table of the page as it stands. */
function cellsOfPage(marks: Table["marks"]): Table["cells"] {
  const lines = partsOf(readFileSync(page, "utf8"), marks)[1].split("\n");
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

function written({ headings: names, cells }: Table): string {
  const lines = [
    ["what is tried", ...names],
    ["---", ...names.map(() => "---")],
  ];
  for (const [row, found] of cells) lines.push([row, ...found]);
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** Where code that is isolated got out, and where the page says something else. */
function complaints({ marks, headings: names, cells }: Table): string[] {
  const escaped = [...cells].flatMap(([row, found]) =>
    names
      .filter((heading, index) => heading.startsWith("isolated") && found[index] === words.reached)
      .map((heading) => `${heading} does not hold: ${row}`),
  );
  if (!values.check) return escaped;
  const before = cellsOfPage(marks);
  const changed = [...cells].flatMap(([row, found]) =>
    found.flatMap((cell, index) => {
      const said = before.get(row)?.[index] ?? "nothing";
      return cell === "?" || cell === said
        ? []
        : [`${row}, ${names[index]}: ${cell}, and the page says ${said}`];
    }),
  );
  const gone = [...before.keys()]
    .filter((row) => !cells.has(row))
    .map((row) => `${row}: is not tried any more`);
  return [...escaped, ...changed, ...gone];
}

const measured = await measure();
const missing = new Set<string>(measured.missing.keys());
for (const [column, reason] of measured.missing) console.log(`${headings[column]} is not tried: ${reason}`);
const asked = answerColumns.filter((column) => !missing.has(column));
const tables: readonly Table[] = [
  {
    marks: ["<!-- measured -->", "<!-- end -->"],
    headings: columns.map((column) => headings[column]),
    cells: cellsOf<Column>(measured.rows, columns, missing),
  },
  {
    marks: ["<!-- answers -->", "<!-- end of answers -->"],
    headings: ["mediated", headings.bwrap, headings.quickjs],
    cells: cellsOf<AnswerColumn>(await measureAnswers(asked), answerColumns, missing),
  },
];
const wrong = tables.flatMap(complaints);
const count = tables.reduce((sum, { cells }) => sum + cells.size, 0);
for (const complaint of wrong) console.error(complaint);
if (wrong.length > 0) process.exitCode = 1;
else if (values.check) console.log(`${count} rows are as the page says`);
else if (missing.size > 0) {
  console.error("The page was not written: a column is missing.");
  process.exitCode = 1;
} else {
  for (const table of tables) {
    const [begin, end] = table.marks;
    const [before, , after] = partsOf(readFileSync(page, "utf8"), table.marks);
    writeFileSync(page, `${before}${begin}\n\n${written(table)}\n\n${end}\n${after}`);
  }
  console.log(`${count} rows written to docs/escape-table.md`);
}
