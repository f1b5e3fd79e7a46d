/** A test of the last run, as tools/count-reporter.ts keeps it. */
export interface TestRecord {
  readonly file: string;
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped" | "pending";
}

/** A row or an acceptance case of docs/coverage/rows.json. Cases have no mark. */
export interface Entry {
  readonly id: string | number;
  /** Must, should, left out. */
  readonly mark?: "M" | "S" | "X";
  readonly title: string;
  /** The work that it belongs to, when it is not due yet. */
  readonly later?: string;
}

type Status = "passed" | "failed" | "skipped" | "later" | "none" | "left out";

/** An entry with the tests that claim it; those with one title in one file are one (a contract suite runs many times). */
export interface Covered {
  readonly entry: Entry;
  readonly status: Status;
  readonly tests: readonly TestRecord[];
}

const rowId = /^[A-Z]+(?:\d+|-[a-zA-Z-]+)$/;

/** What a title claims: cases at its beginning (`cases 40 and 46: …`), rows at its end (`… [K4, O2]`). */
export function claimsOf(title: string): string[] {
  const [, cases = ""] = /^cases? (\d+(?:(?:, | and )\d+)*): /.exec(title) ?? [];
  const [, tag = ""] = / \[([^[\]]+)\]$/.exec(title) ?? [];
  const rows = tag.split(", ");
  return [...(cases.match(/\d+/g) ?? []), ...(rows.every((row) => rowId.test(row)) ? rows : [])];
}

/** Claims of rows and cases that do not exist: slips of the pen. */
export function unknownClaims(tests: readonly TestRecord[], entries: readonly Entry[]): string[] {
  const known = new Set(entries.map(({ id }) => String(id)));
  return tests.flatMap(({ file, title }) =>
    claimsOf(title)
      .filter((claim) => !known.has(claim))
      .map((claim) => `${file}: "${title}" claims ${claim}, which is not in docs/coverage/rows.json`),
  );
}

/** The entries with their tests, in the order given. Independent of the order in which the tests ran. */
export function coverageOf(tests: readonly TestRecord[], entries: readonly Entry[]): Covered[] {
  const claimed = Map.groupBy(
    tests.flatMap((test) => claimsOf(test.title).map((claim) => ({ claim, test }))),
    ({ claim }) => claim,
  );
  return entries.map((entry) => {
    const found = merged((claimed.get(String(entry.id)) ?? []).map(({ test }) => test));
    return { entry, tests: found, status: statusOf(entry, found) };
  });
}

const weight: readonly TestRecord["state"][] = ["failed", "passed", "skipped", "pending"];

function merged(tests: readonly TestRecord[]): TestRecord[] {
  const groups = Map.groupBy(tests, ({ file, title }) => `${file} ${title}`);
  return [...groups.keys()].toSorted().flatMap((key) => {
    const group = groups.get(key) ?? [];
    return group.toSorted((a, b) => weight.indexOf(a.state) - weight.indexOf(b.state)).slice(0, 1);
  });
}

function statusOf({ mark, later }: Entry, tests: readonly TestRecord[]): Status {
  const states = new Set(tests.map(({ state }) => state));
  if (states.has("failed")) return "failed";
  if (states.has("passed")) return "passed";
  if (later !== undefined) return "later";
  if (mark === "X") return "left out";
  return tests.length === 0 ? "none" : "skipped";
}

/** One line with the counts. A row that is due later counts among the [M] rows only once it holds. */
export function summaryOf(covered: readonly Covered[]): string {
  const marked = (mark: Entry["mark"]): Covered[] => covered.filter(({ entry }) => entry.mark === mark);
  const passed = (some: readonly Covered[]): number =>
    some.filter(({ status }) => status === "passed").length;
  const later = (some: readonly Covered[]): number => some.filter(({ status }) => status === "later").length;
  const [must, should, cases] = [marked("M"), marked("S"), marked(undefined)];
  const share = Math.round((100 * passed(should)) / should.length);
  return [
    `[M] ${passed(must)} of ${must.length - later(must)} (${later(must)} more come later)`,
    `[S] ${passed(should)} of ${should.length} (${share} %; ${later(should)} come later)`,
    `cases ${passed(cases)} of ${cases.length}`,
  ].join(", ");
}

/** The [M] rows that are due and do not hold. */
export function missing(covered: readonly Covered[]): Covered[] {
  return covered.filter(({ entry, status }) => entry.mark === "M" && !["passed", "later"].includes(status));
}

/** The page: the same on every machine where the same tests pass. */
export function pageOf(covered: readonly Covered[]): string {
  const lines = covered.map((one) => lineOf(one));
  const isRow = (index: number): boolean => covered[index]?.entry.mark !== undefined;
  return [
    "# What of the five systems holds",
    "",
    "Made by `npm run coverage:seeds` from the names of the tests. M must hold, S should, X is left out.",
    "",
    `${summaryOf(covered)}.`,
    "",
    "| row | mark | what | status | tests |",
    "|---|---|---|---|---|",
    ...lines.filter((_line, index) => isRow(index)),
    "",
    "## Acceptance cases",
    "",
    "| case | what | status | tests |",
    "|---|---|---|---|",
    ...lines.filter((_line, index) => !isRow(index)),
    "",
  ].join("\n");
}

function lineOf({ entry, status, tests }: Covered): string {
  const files = Map.groupBy(tests, ({ file }) => file);
  const told = [...files].map(
    ([file, some]) => `${file}: ${some.map(({ title }) => wordsOf(title)).join("; ")}`,
  );
  const due = status === "later" ? `later: ${entry.later ?? ""}` : status;
  const cells = [entry.id, ...(entry.mark === undefined ? [] : [entry.mark]), entry.title, due];
  return `| ${[...cells, told.join("<br>").replaceAll("|", "\\|")].join(" | ")} |`;
}

/** A title without its rows, as one part of a list. */
function wordsOf(title: string): string {
  return title.replace(/ \[[^[\]]+\]$/, "").replaceAll(";", ",");
}
