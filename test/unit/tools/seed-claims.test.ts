import { describe, expect, it } from "vitest";
import {
  claimsOf,
  coverageOf,
  type Entry,
  missing,
  pageOf,
  summaryOf,
  type TestRecord,
  unknownClaims,
} from "../../../tools/seed-claims.ts";

const test = (title: string, state: TestRecord["state"] = "passed", file = "a.test.ts"): TestRecord => ({
  file,
  title,
  state,
});
const entries: readonly Entry[] = [
  { id: "K4", mark: "M", title: "knowledge" },
  { id: "Y3", mark: "M", title: "powers", later: "capabilities" },
  { id: "O2", mark: "S", title: "told" },
  { id: "Y19", mark: "X", title: "judging" },
  { id: 18, title: "lazy" },
];
const statuses = (...tests: readonly TestRecord[]): unknown =>
  Object.fromEntries(coverageOf(tests, entries).map(({ entry, status }) => [entry.id, status]));

describe("what a test's name claims", () => {
  it("is rows at its end and cases at its beginning", () => {
    expect(claimsOf("case 18: loads it when it is called [K4, O2]")).toEqual(["18", "K4", "O2"]);
    expect(claimsOf("cases 40 and 46: the note session")).toEqual(["40", "46"]);
    expect(claimsOf("cases 1, 2 and 3: all [B-turns]")).toEqual(["1", "2", "3", "B-turns"]);
  });

  it("is nothing where brackets or numbers mean something else", () => {
    const titles = ["[K4] first", "takes [1, 2]", 'tells ["K4"]', "in case 18: no", "word[K4]", "[K4, x]"];
    expect(titles.flatMap(claimsOf)).toEqual([]);
  });

  it("is reported when no row has that name", () => {
    expect(unknownClaims([test("a [K4]"), test("case 99: b [K44]")], entries)).toEqual([
      expect.stringContaining("99"),
      expect.stringContaining("K44"),
    ]);
  });
});

describe("coverage", () => {
  it("holds with one test that passes and none that fails", () => {
    expect(statuses()).toEqual({ K4: "none", Y3: "later", O2: "none", Y19: "left out", 18: "none" });
    const tests = [test("case 18: a [K4, O2, Y3]"), test("b [K4]", "skipped"), test("c [O2]", "failed")];
    expect(statuses(...tests)).toEqual({
      K4: "passed",
      Y3: "passed",
      O2: "failed",
      Y19: "left out",
      18: "passed",
    });
    expect(statuses(test("b [K4]", "skipped"), test("b [Y3]", "pending"))).toMatchObject({
      K4: "skipped",
      Y3: "later",
    });
  });

  it("takes the runs of one test in a contract suite for one, and fails when any of them does", () => {
    const runs = [test("a [K4]", "skipped"), test("a [K4]"), test("a [K4]", "passed", "b.test.ts")];
    expect(coverageOf(runs, entries)[0]?.tests).toEqual([runs[1], runs[2]]);
    expect(statuses(...runs, test("a [K4]", "failed"))).toMatchObject({ K4: "failed" });
  });

  it("counts what is due, and names the must-haves that do not hold", () => {
    const covered = coverageOf([test("a [O2]"), test("b [K4]", "skipped")], entries);
    expect(summaryOf(covered)).toBe(
      "[M] 0 of 1 (1 more come later), [S] 1 of 1 (100 %; 0 come later), cases 0 of 1",
    );
    expect(missing(covered).map(({ entry }) => entry.id)).toEqual(["K4"]);
  });

  it("makes the same page whatever the order of the tests, with what would break a table escaped", () => {
    const tests = [test("b [K4]"), test("a | b; too [K4]"), test("case 18: c", "passed", "z.test.ts")];
    const page = pageOf(coverageOf(tests, entries));
    expect(pageOf(coverageOf(tests.toReversed(), entries))).toBe(page);
    expect(page).toContain("| K4 | M | knowledge | passed | a.test.ts: a \\| b, too; b |\n");
    expect(page).toContain("| Y3 | M | powers | later: capabilities |  |\n");
    expect(page).toContain("| 18 | lazy | passed | z.test.ts: case 18: c |\n");
  });
});
