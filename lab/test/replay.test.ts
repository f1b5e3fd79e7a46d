import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JudgedOutput } from "../bfcl/judge.ts";
import { replay } from "../replay.ts";
import { type BfclFolders, makeBfclFolders } from "./bfcl-folders.ts";

let folders: BfclFolders;
beforeEach(() => {
  folders = makeBfclFolders();
});
afterEach(() => folders.remove());

const lima = '{"name": "get_weather", "arguments": {"city": "Lima", "days": 3}}';
const oslo = '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 1, "unit": "kelvin"}}';

function replayed(options: Partial<Parameters<typeof replay>[0]> = {}): ReturnType<typeof replay> {
  return replay({ data: folders.data, cases: folders.cases, mode: "lenient", ...options });
}

describe("a replay", () => {
  it("weighs each model the same, and tells restraint apart", () => {
    folders.recorded("a", "simple", { simple_0: lima, simple_1: "I cannot know." });
    folders.recorded("a", "parallel_function", {
      parallel_function_0:
        '[{"name": "play", "arguments": {"song": "Rain"}}, {"name": "play", "arguments": {"song": "a day"}}]',
    });
    folders.recorded("a", "relevance", { relevance_0: "Five metres.", relevance_1: oslo });
    folders.recorded("b", "simple", { simple_0: "I cannot know." });
    const report = replayed();
    expect(report).toMatchObject({ mode: "lenient", outputs: 6, threw: 0, official: null });
    expect(report.byModel["a"]).toMatchObject({ accuracy: 2 / 3, restraint: 1 / 2, categoryMean: 3 / 4 });
    expect(report.byModel["a"]?.mean).toBeCloseTo(7 / 12);
    expect(report.byModel["b"]).toMatchObject({ accuracy: 0, restraint: null, mean: null, categoryMean: 0 });
    expect(report.accuracy).toBeCloseTo(1 / 3);
    expect(report).toMatchObject({ restraint: 1 / 2, categoryMean: 3 / 8 });
    expect(report.byCategory).toEqual({
      simple_python: { outputs: 3, right: 1, accuracy: 1 / 4 },
      parallel: { outputs: 1, right: 1, accuracy: 1 },
      irrelevance: { outputs: 2, right: 1, accuracy: 1 / 2 },
    });
    expect(report.timing.texts).toBe(6);
    expect(report.timing.maxMs).toBeGreaterThanOrEqual(report.timing.medianMs);
  });

  it("refuses in safe mode what a case never said", () => {
    folders.recorded("a", "relevance", { relevance_1: oslo });
    expect(replayed().restraint).toBe(0);
    expect(replayed({ mode: "safe" }).restraint).toBe(1);
  });

  it("reads calls that the provider found like any others, with the tools' own names", () => {
    folders.recorded("native", "multiple_function", {
      multiple_function_0: ["Of course.", { lamp_on: '{"room": "kitchen", "levels": [1.0, 2.5]}' }],
    });
    folders.recorded("native", "relevance", {
      relevance_0: ["Very tall."],
      relevance_1: [{ get_weather: "{broken" }],
    });
    folders.recorded("native", "simple", {
      simple_0: { get_weather: { city: "Lima", days: 3 } },
      simple_1: null,
    });
    const report = replayed();
    expect(report.byModel["native"]?.byCategory).toEqual({
      multiple: { outputs: 1, right: 1, accuracy: 1 },
      irrelevance: { outputs: 2, right: 2, accuracy: 1 },
      simple_python: { outputs: 2, right: 1, accuracy: 1 / 2 },
    });
    expect(report.timing.texts).toBe(5);
  });

  it("shows the official figures of the categories that it judged", () => {
    folders.recorded("a", "simple", { simple_0: lima });
    folders.recorded("b", "simple", { simple_0: lima });
    folders.file(
      "outputs/score/a/simple_score.json",
      '{"accuracy": 0.25, "correct_count": 1, "total_count": 4}\n{"id": 1}',
    );
    folders.file("outputs/score/a/relevance_score.json", [{ accuracy: 1, correct_count: 9, total_count: 9 }]);
    folders.file("outputs/score/b/simple_score.json", "broken");
    const report = replayed();
    expect(report.byModel["a"]?.official).toEqual({ accuracy: 1 / 4, restraint: null, mean: null });
    expect(report.byModel["b"]?.official).toBeNull();
    expect(report.official).toEqual({ accuracy: 1 / 4, restraint: null, mean: null });
  });

  it("counts what it passes over, and goes on", () => {
    folders.file(
      "outputs/result/a/simple_result.json",
      [
        JSON.stringify({ id: "simple_0", result: lima }),
        JSON.stringify({ id: "simple_0", result: "again" }),
        JSON.stringify({ id: "simple_99", result: lima }),
        JSON.stringify({ id: "java_0", result: "Foo.bar()" }),
        JSON.stringify({ id: "parallel_multiple_0", result: lima }),
        JSON.stringify({ id: "simple_1" }),
        JSON.stringify({ result: lima }),
        JSON.stringify({ id: "simple_1", result: [1] }),
        "",
        '{"id": "simple_1", "result": "cut of',
      ].join("\n"),
    );
    const { outputs, accuracy, passedOver } = replayed();
    expect({ outputs, accuracy }).toEqual({ outputs: 1, accuracy: 1 });
    expect(passedOver.broken.map(({ line }) => line)).toEqual([10, 6, 7, 8]);
    expect(passedOver).toMatchObject({
      notJudged: { java: 1, parallel_multiple: 1 },
      unknownIds: ["simple_python_99"],
      repeatedIds: ["simple_python_0"],
    });
  });

  it("tells each judged output with why it is wrong", () => {
    folders.recorded("a", "simple", { simple_0: lima, simple_1: lima });
    const told: JudgedOutput[] = [];
    replayed({ onJudged: (judged) => told.push(judged) });
    expect(told.map(({ by, test, said, wrong }) => [by, test.id, said, wrong])).toEqual([
      ["a", "simple_python_0", lima, undefined],
      ["a", "simple_python_1", lima, 'get_weather: "city" is "Lima", not one of ["Oslo"]'],
    ]);
  });

  it("finds outputs in folders of a model's folder, as newer ones are laid out", () => {
    const line = JSON.stringify({ id: "simple_python_0", result: lima });
    folders.file("outputs/result/beta/non_live/BFCL_v4_simple_python_result.json", `${line}\n`);
    expect(replayed().byModel["beta"]).toMatchObject({ accuracy: 1 });
  });

  it("can be of some models and categories", () => {
    folders.recorded("a", "simple", { simple_0: lima });
    folders.recorded("a", "relevance", { relevance_0: "no" });
    folders.recorded("b", "simple", { simple_0: lima });
    const report = replayed({ models: ["a"], categories: ["irrelevance"] });
    expect(Object.keys(report.byModel)).toEqual(["a"]);
    expect(Object.keys(report.byCategory)).toEqual(["irrelevance"]);
    expect(() => replayed({ models: ["c"] })).toThrow(expect.objectContaining({ code: "option-invalid" }));
  });

  it.each([
    ["no folder", "nowhere", "ENOENT"],
    ["no models", "outputs", "it has no folders"],
    ["no outputs", "bare", "no folder in it has a file of outputs"],
    ["no output of a case", "strange", "none of them is of a case that can be judged"],
  ])("says that there are %s", (_what, name, reason) => {
    folders.file("outputs/result/README.md", "nothing");
    folders.file("bare/result/a/notes.txt", "nothing");
    folders.file("strange/result/a/sql_result.json", [{ id: "sql_0", result: "SELECT 1" }]);
    expect(() => replayed({ data: join(folders.root, name) })).toThrow(
      expect.objectContaining({ code: "option-invalid", hint: expect.stringContaining(reason) }),
    );
  });
});

const published = join(import.meta.dirname, "../../../shared/data");
const isThere = existsSync(join(published, "bfcl-raw-outputs")) && existsSync(join(published, "bfcl"));
if (!isThere) console.log("skipped: the recorded outputs of BFCL are not in ../shared/data/bfcl-raw-outputs");

describe.skipIf(!isThere)("the recorded outputs of 25 models", () => {
  it("are all judged, nothing throws, and the official figures are those that are published", () => {
    const report = replay({
      data: join(published, "bfcl-raw-outputs"),
      cases: join(published, "bfcl"),
      mode: "safe",
    });
    expect(report.outputs).toBe(25 * 1240);
    expect(report.passedOver).toEqual({ broken: [], notJudged: {}, unknownIds: [], repeatedIds: [] });
    expect(report.thrown).toEqual([]);
    expect(report.threw).toBe(0);
    expect(report.accuracy).toBeGreaterThan(0.84);
    expect(report.restraint).toBeGreaterThan(0.72);
    expect(report.official?.accuracy).toBeCloseTo(0.74, 3);
    expect(report.official?.restraint).toBeCloseTo(0.64, 3);
  });
});
