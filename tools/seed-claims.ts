/** A test of the last run, as tools/count-reporter.ts keeps it. */
export interface TestRecord {
  readonly file: string;
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped" | "pending";
}

/** One statement of a must-have row, which a test proves by its id (`C8.2`). */
export interface Promised {
  readonly id: string;
  readonly says: string;
  /** `default`, or the option under which it holds. */
  readonly setting: string;
  /** The difference from the text of the system's own page. */
  readonly deviates?: string;
  /** The reason why no test proves it: it does not hold. */
  readonly open?: string;
}

/** A row or an acceptance case of docs/coverage/rows.json. Cases have no mark. */
export interface Entry {
  readonly id: string | number;
  /** Must, should, left out. */
  readonly mark?: "M" | "S" | "X";
  readonly title: string;
  /** The work that it belongs to, when it is not due yet. */
  readonly later?: string;
  /** The reason why it does not hold, and what there is in its place. */
  readonly why?: string;
  /** Its promises: each must-have row has some. */
  readonly promises?: readonly Promised[];
}

type Status = "passed" | "failed" | "skipped" | "later" | "none" | "left out";

/** A promise with the tests that name it. */
export interface Kept {
  readonly promised: Promised;
  readonly status: Status;
  readonly tests: readonly TestRecord[];
}

/** An entry with the tests that claim it; those with one title in one file are one (a contract suite runs many times). */
export interface Covered {
  readonly entry: Entry;
  readonly status: Status;
  readonly tests: readonly TestRecord[];
  readonly promises: readonly Kept[];
}

const claimId = /^[A-Z]+(?:\d+|-[a-zA-Z-]+)(?:\.\d+)?$/;

/** What a title claims: cases at its beginning (`cases 40 and 46: …`), promises and rows at its end (`… [K4.1, O2]`). */
export function claimsOf(title: string): string[] {
  const [, cases = ""] = /^cases? (\d+(?:(?:, | and )\d+)*): /.exec(title) ?? [];
  const [, tag = ""] = / \[([^[\]]+)\]$/.exec(title) ?? [];
  const claims = tag.split(", ");
  return [...(cases.match(/\d+/g) ?? []), ...(claims.every((claim) => claimId.test(claim)) ? claims : [])];
}

/** Claims of ids that do not exist, and of whole rows where a promise must be named. */
export function unknownClaims(tests: readonly TestRecord[], entries: readonly Entry[]): string[] {
  const known = new Set(
    entries.flatMap(({ id, promises }) => promises?.map((promised) => promised.id) ?? [String(id)]),
  );
  const split = new Map(entries.flatMap(({ id, promises }) => (promises ? [[String(id), promises]] : [])));
  return tests.flatMap(({ file, title }) =>
    claimsOf(title)
      .filter((claim) => !known.has(claim))
      .map((claim) => {
        const promises = split.get(claim)?.map(({ id }) => id);
        const wrong = promises
          ? `of which it has to name a promise: ${promises.join(", ")}`
          : "which is not in docs/coverage/rows.json";
        return `${file}: "${title}" claims ${claim}, ${wrong}`;
      }),
  );
}

/** The entries with their tests, in the order given. Independent of the order in which the tests ran. */
export function coverageOf(tests: readonly TestRecord[], entries: readonly Entry[]): Covered[] {
  const claimed = Map.groupBy(
    tests.flatMap((test) => claimsOf(test.title).map((claim) => ({ claim, test }))),
    ({ claim }) => claim,
  );
  const testsOf = (id: string | number): TestRecord[] =>
    merged((claimed.get(String(id)) ?? []).map(({ test }) => test));
  return entries.map((entry): Covered => {
    const promises = (entry.promises ?? []).map((promised): Kept => {
      const found = testsOf(promised.id);
      return { promised, tests: found, status: statusOf(entry, found) };
    });
    if (promises.length > 0) return { entry, promises, tests: [], status: worst(promises) };
    const found = testsOf(entry.id);
    return { entry, promises, tests: found, status: statusOf(entry, found) };
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

/** A row holds when all of its promises do. */
function worst(promises: readonly Kept[]): Status {
  const states = new Set(promises.map(({ status }) => status));
  return (["failed", "none", "skipped", "later"] as const).find((state) => states.has(state)) ?? "passed";
}

/** The promises of the must-have rows, counted. */
export function countsOf(covered: readonly Covered[]): {
  readonly all: number;
  readonly byDefault: number;
  readonly byOption: number;
  readonly notProven: number;
} {
  const promises = covered.flatMap((one) => one.promises);
  const proven = promises.filter(({ status }) => status === "passed");
  const byDefault = proven.filter(({ promised }) => promised.setting === "default").length;
  return {
    all: promises.length,
    byDefault,
    byOption: proven.length - byDefault,
    notProven: promises.length - proven.length,
  };
}

/** One line with the counts. A row that is due later counts among the [M] rows only once it holds. */
export function summaryOf(covered: readonly Covered[]): string {
  const marked = (mark: Entry["mark"]): Covered[] => covered.filter(({ entry }) => entry.mark === mark);
  const passed = (some: readonly Covered[]): number =>
    some.filter(({ status }) => status === "passed").length;
  const later = (some: readonly Covered[]): number => some.filter(({ status }) => status === "later").length;
  const [must, should, cases] = [marked("M"), marked("S"), marked(undefined)];
  const share = Math.round((100 * passed(should)) / should.length);
  const { all, byDefault, byOption, notProven } = countsOf(covered);
  return [
    `[M] ${passed(must)} of ${must.length - later(must)} rows in full (${later(must)} more come later)`,
    `${all} promises: ${byDefault} proven by default, ${byOption} by an option, ${notProven} not proven`,
    `[S] ${passed(should)} of ${should.length} (${share} %; ${later(should)} come later)`,
    `cases ${passed(cases)} of ${cases.length}`,
  ].join(", ");
}

/**
 * What is wrong with the rows: a row that holds must not say why it does not hold. A must-have row must have promises, each with
 * a test that proves it, or a reason why it is open and no test that fails; a promise that is proven must not be open.
 */
export function faultsOf(covered: readonly Covered[]): string[] {
  const excused = covered.filter(({ entry, status }) => status === "passed" && entry.why !== undefined);
  const faults = covered
    .filter(({ entry, status }) => entry.mark === "M" && status !== "later")
    .flatMap(({ entry, promises }) =>
      promises.length === 0
        ? [`[M] ${entry.id} ${entry.title}: no promise`]
        : promises.flatMap(({ promised, status }) => {
            const { id, says, open } = promised;
            if (status === "passed")
              return open === undefined ? [] : [`[M] ${id} is proven: it is not \`open\` any more`];
            if (open !== undefined && status !== "failed") return [];
            return [`[M] ${id} ${says}: ${status === "none" ? "no test" : status}`];
          }),
    );
  return [...excused.map(({ entry }) => `${entry.id} holds: it says no \`why\` any more`), ...faults];
}
