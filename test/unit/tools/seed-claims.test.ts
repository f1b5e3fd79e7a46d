import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  claimsOf,
  countsOf,
  coverageOf,
  type Entry,
  faultsOf,
  summaryOf,
  type TestRecord,
  unknownClaims,
} from "../../../tools/seed-claims.ts";
import { pageOf } from "../../../tools/seed-page.ts";

const test = (title: string, state: TestRecord["state"] = "passed", file = "a.test.ts"): TestRecord => ({
  file,
  title,
  state,
});
const entries: readonly Entry[] = [
  {
    id: "K4",
    mark: "M",
    title: "knowledge",
    promises: [
      { id: "K4.1", says: "It is lazy", setting: "default" },
      { id: "K4.2", says: "It is told", setting: "`onEvent`", deviates: "after the run" },
    ],
  },
  { id: "Y3", mark: "M", title: "powers", later: "capabilities" },
  { id: "O2", mark: "S", title: "told" },
  { id: "Y19", mark: "X", title: "judging" },
  { id: 18, title: "lazy" },
];
const statuses = (...tests: readonly TestRecord[]): unknown =>
  Object.fromEntries(coverageOf(tests, entries).map(({ entry, status }) => [entry.id, status]));

describe("what a test's name claims", () => {
  it("is promises and rows at its end and cases at its beginning", () => {
    expect(claimsOf("case 18: loads it when it is called [K4.1, O2]")).toEqual(["18", "K4.1", "O2"]);
    expect(claimsOf("cases 40 and 46: the note session")).toEqual(["40", "46"]);
    expect(claimsOf("cases 1, 2 and 3: all [B-turns.12]")).toEqual(["1", "2", "3", "B-turns.12"]);
  });

  it("is nothing where brackets or numbers mean something else", () => {
    const titles = [
      "[K4] first",
      "takes [1, 2]",
      'tells ["K4"]',
      "in case 18: no",
      "word[K4]",
      "[K4, x]",
      "a [K4.]",
    ];
    expect(titles.flatMap(claimsOf)).toEqual([]);
  });

  it("is reported when nothing has that name, and when it is a row with promises", () => {
    expect(
      unknownClaims([test("a [K4.1, K4.3]"), test("case 99: b [O22]"), test("c [K4]")], entries),
    ).toEqual([
      expect.stringContaining("K4.3, which is not"),
      expect.stringContaining("99, which is not"),
      expect.stringContaining("O22, which is not"),
      expect.stringContaining("claims K4, of which it has to name a promise: K4.1, K4.2"),
    ]);
  });
});

describe("coverage", () => {
  it("holds with one test that passes and none that fails, a row with all its promises", () => {
    expect(statuses()).toEqual({ K4: "none", Y3: "later", O2: "none", Y19: "left out", 18: "none" });
    const tests = [test("case 18: a [K4.1, Y3]"), test("b [K4.2]", "skipped"), test("c [O2]", "failed")];
    expect(statuses(...tests)).toEqual({
      K4: "skipped",
      Y3: "passed",
      O2: "failed",
      Y19: "left out",
      18: "passed",
    });
    expect(statuses(test("a [K4.1, K4.2]"))).toMatchObject({ K4: "passed" });
    expect(statuses(test("a [K4.1, K4.2]"), test("b [K4.2]", "failed"))).toMatchObject({ K4: "failed" });
    expect(statuses(test("b [Y3]", "pending"))).toMatchObject({ Y3: "later" });
  });

  it("takes the runs of one test in a contract suite for one, and fails when any of them does", () => {
    const runs = [test("a [O2]", "skipped"), test("a [O2]"), test("a [O2]", "passed", "b.test.ts")];
    expect(coverageOf(runs, entries)[2]?.tests).toEqual([runs[1], runs[2]]);
    expect(statuses(...runs, test("a [O2]", "failed"))).toMatchObject({ O2: "failed" });
  });

  it("counts rows, cases and promises by the setting under which they are proven", () => {
    const covered = coverageOf([test("a [O2]"), test("b [K4.2]")], entries);
    expect(countsOf(covered)).toEqual({ all: 2, byDefault: 0, byOption: 1, notProven: 1 });
    expect(summaryOf(covered)).toBe(
      "[M] 0 of 1 rows in full (1 more come later), 2 promises: 0 proven by default, 1 by an option, 1 not proven, [S] 1 of 1 (100 %; 0 come later), cases 0 of 1",
    );
  });

  it("is at fault without promises, with one that no test proves, and with an open one that holds", () => {
    const faults = (open: string | undefined, ...tests: readonly TestRecord[]): string[] => {
      const promises = [
        { id: "K4.1", says: "It is lazy", setting: "default", ...(open === undefined ? {} : { open }) },
      ];
      return faultsOf(coverageOf(tests, [{ id: "K4", mark: "M", title: "knowledge", promises }]));
    };
    expect(faults(undefined)).toEqual(["[M] K4.1 It is lazy: no test"]);
    expect(faults(undefined, test("a [K4.1]", "skipped"))).toEqual(["[M] K4.1 It is lazy: skipped"]);
    expect(faults(undefined, test("a [K4.1]"))).toEqual([]);
    expect(faults("nothing does it")).toEqual([]);
    expect(faults("nothing does it", test("a [K4.1]"))).toEqual([expect.stringContaining("is proven")]);
    expect(faults("nothing does it", test("a [K4.1]", "failed"))).toEqual([
      expect.stringContaining("failed"),
    ]);
    expect(faultsOf(coverageOf([], [{ id: "A1", mark: "M", title: "agents" }]))).toEqual([
      "[M] A1 agents: no promise",
    ]);
  });

  it("says of a wider row that does not hold why, and is at fault when it holds all the same", () => {
    const entry = { id: "O4", mark: "S", title: "audit", why: "nobody | wrote it" } as const;
    const page = (...tests: readonly TestRecord[]): string => pageOf(coverageOf(tests, [entry]));
    expect(page()).toContain("| O4 | S | audit | does not hold | nobody \\| wrote it |\n");
    expect(page(test("a [O4]"))).toContain("| O4 | S | audit | passed | a.test.ts: a |\n");
    expect(page(test("a [O4]", "failed"))).toContain("| O4 | S | audit | failed | a.test.ts: a |\n");
    expect(faultsOf(coverageOf([], [entry]))).toEqual([]);
    expect(faultsOf(coverageOf([test("a [O4]")], [entry]))).toEqual([expect.stringContaining("O4 holds")]);
    const later = { ...entry, later: "audits" };
    expect(pageOf(coverageOf([], [later]))).toContain("| later: audits | nobody \\| wrote it |\n");
  });

  it("makes the same page whatever the order of the tests, with what would break a table escaped", () => {
    const tests = [test("b [K4.1, O2]"), test("a | b; too [O2]"), test("case 18: c", "passed", "z.test.ts")];
    const page = pageOf(coverageOf(tests, entries));
    expect(pageOf(coverageOf(tests.toReversed(), entries))).toBe(page);
    expect(page).toContain("| **K4** | **knowledge** |  | 1 of 2 |\n");
    expect(page).toContain("| K4.1 | It is lazy | default | a.test.ts: b |\n");
    expect(page).toContain("| K4.2 | It is told. *Differs:* after the run | `onEvent` | *not proven* |\n");
    expect(page).toContain("| O2 | S | told | passed | a.test.ts: a \\| b, too; b |\n");
    expect(page).toContain("| **Y3** | **powers** |  | later: capabilities |\n");
    expect(page).toContain("| 18 | lazy | passed | z.test.ts: case 18: c |\n");
  });

  it("shows three tests of a promise, and counts the others", () => {
    const tests = ["a", "b", "c", "d", "e"].map((title) => test(`${title} [K4.1]`));
    expect(pageOf(coverageOf(tests, entries))).toContain("a.test.ts: a; b; c<br>and 2 more |\n");
  });
});

describe("docs/coverage/rows.json", () => {
  const rows = new URL("../../../docs/coverage/rows.json", import.meta.url);
  const told = JSON.parse(readFileSync(rows, "utf8")) as { readonly rows: readonly Entry[] };

  it("splits each must-have row into promises, numbered, with what they say and under which setting", () => {
    for (const { id, mark, promises } of told.rows) {
      expect(promises !== undefined, String(id)).toBe(mark === "M");
      expect(promises?.map((promised) => promised.id)).toEqual(
        promises?.map((_, index) => `${id}.${index + 1}`),
      );
      for (const { says, setting } of promises ?? []) expect([says, setting]).not.toContain("");
    }
  });
});
