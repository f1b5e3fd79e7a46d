import { type Covered, type Kept, summaryOf, type TestRecord } from "./seed-claims.ts";

/** The page docs/coverage.md: the same on every machine where the same tests pass. */
export function pageOf(covered: readonly Covered[]): string {
  const rows = covered.filter(({ entry }) => entry.mark !== undefined);
  return [
    "# What of the five systems holds",
    "",
    "Made by `npm run coverage:seeds` from the names of the tests. M must hold, S should, X is left out. A must-have row is split into its promises, each with",
    "the setting under which it holds, the first of the tests that name it, and what differs from the system's own page. *Not proven* is what does not hold. A",
    "wider row that does not hold says why, and what there is in its place.",
    "",
    `${summaryOf(covered)}.`,
    "",
    "## What must hold",
    "",
    "| promise | what | setting | proven by |",
    "|---|---|---|---|",
    ...rows.filter(({ entry }) => entry.mark === "M").flatMap(linesOfRow),
    "",
    "## What should hold",
    "",
    "| row | mark | what | status | tests |",
    "|---|---|---|---|---|",
    ...rows.filter(({ entry }) => entry.mark !== "M").map(lineOf),
    "",
    "## Acceptance cases",
    "",
    "| case | what | status | tests |",
    "|---|---|---|---|",
    ...covered.filter(({ entry }) => entry.mark === undefined).map(lineOf),
    "",
  ].join("\n");
}

function linesOfRow({ entry, promises, status }: Covered): string[] {
  const held = promises.filter((one) => one.status === "passed").length;
  const due = status === "later" ? `later: ${entry.later ?? ""}` : `${held} of ${promises.length}`;
  return [line(`**${entry.id}**`, `**${entry.title}**`, "", due), ...promises.map(lineOfPromise)];
}

function lineOfPromise({ promised, status, tests }: Kept): string {
  const { id, says, setting, deviates, open } = promised;
  const what = deviates === undefined ? says : `${says}. *Differs:* ${deviates}`;
  if (status === "none")
    return line(id, what, setting, `*not proven*${open === undefined ? "" : `: ${open}`}`);
  return line(id, what, setting, status === "passed" ? fewOf(tests) : `*${status}*: ${fewOf(tests)}`);
}

const shown = 3;

/** The first tests; the others are counted. */
function fewOf(tests: readonly TestRecord[]): string {
  const more = tests.length > shown ? `<br>and ${tests.length - shown} more` : "";
  return `${told(tests.slice(0, shown))}${more}`;
}

function lineOf({ entry, status, tests }: Covered): string {
  const due =
    status === "later" ? `later: ${entry.later ?? ""}` : status === "none" ? "does not hold" : status;
  const why = status === "none" || status === "later" ? entry.why : undefined;
  const mark = entry.mark === undefined ? [] : [entry.mark];
  return line(entry.id, ...mark, entry.title, due, why ?? fewOf(tests));
}

function told(tests: readonly TestRecord[]): string {
  const files = Map.groupBy(tests, ({ file }) => file);
  return [...files]
    .map(([file, some]) => `${file}: ${some.map(({ title }) => wordsOf(title)).join("; ")}`)
    .join("<br>");
}

function line(...cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
}

/** A title without its claims, as one part of a list. */
function wordsOf(title: string): string {
  return title.replace(/ \[[^[\]]+\]$/, "").replaceAll(";", ",");
}
