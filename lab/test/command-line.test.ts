import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { catalogueModel, modelPath } from "../../src/adapters/model-files/cache.ts";
import { type BfclFolders, makeBfclFolders } from "./bfcl-folders.ts";
import { type Ended, runNode, type StartOptions } from "../../test/e2e/command-line.ts";

let folders: BfclFolders;
beforeEach(() => {
  folders = makeBfclFolders();
});
afterEach(() => folders.remove());

const lima = '{"name": "get_weather", "arguments": {"city": "Lima", "days": 3}}';

/** Runs the command line of the laboratory. */
function lab(words: readonly string[], options: StartOptions = {}): Promise<Ended> {
  return runNode([join(import.meta.dirname, "../cli/main.ts"), ...words], options);
}

function replay(words: readonly string[] = [], options: StartOptions = {}): Promise<Ended> {
  const mode = words.includes("--mode") ? [] : ["--mode", "lenient"];
  return lab(["replay", "--data", folders.data, ...mode, ...words], options);
}

function expectError({ code, stdout, stderr }: Ended, name: string, says: string): void {
  expect(stderr).toContain(`error[${name}] `);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
}

describe("eval replay", () => {
  it("prints accuracy by model and category, restraint, their mean, the official figures and the times", async () => {
    folders.recorded("small model", "simple", { simple_0: lima, simple_1: "No idea." });
    folders.recorded("small model", "relevance", { relevance_0: "Five metres.", relevance_1: lima });
    folders.file("outputs/score/small model/simple_score.json", '{"correct_count": 1, "total_count": 8}\n');
    const { code, stdout, stderr } = await replay();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [head = "", row = "", all = ""] = stdout
      .split("\n")
      .map((line) => line.trim().replaceAll(/ {2,}/g, "|"));
    expect(head).toBe("simple_python|irrelevance|accuracy|restraint|mean|category mean|official");
    expect(row).toBe("small model|50.0|50.0|50.0|50.0|50.0|50.0|12.5 / -");
    expect(all).toBe(row.replace("small model", "all models"));
    expect(stdout).toMatch(/^accuracy +50\.0 {2}right outputs of those that should call/m);
    expect(stdout).toMatch(/^official +- {2}mean of accuracy \/ restraint/m);
    expect(stdout).toContain("\n1 model, 4 outputs, mode lenient, 0 threw\n");
    expect(stdout).toMatch(/reading one of 4 texts took [\d.]+ ms \(median\), [\d.]+ ms \(p99\), [\d.]+ ms/);
  });

  it("writes out what would steer a terminal in the names of models", async () => {
    folders.recorded("small\u001B[2J\u009B model", "simple", { simple_0: lima });
    const [text, json] = [await replay(), await replay(["--json"])];
    expect(text.stdout).toContain("small\\u{1b}[2J\\u{9b} model");
    expect(json.stdout).toContain("small\\u001b[2J\\u009b model");
    expect(text.stdout + json.stdout).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it("prints one JSON object with shares", async () => {
    folders.recorded("a", "simple", { simple_0: lima, simple_1: "No idea." });
    folders.recorded("a", "relevance", { relevance_0: "Five metres." });
    const { code, stdout } = await replay(["--json", "--mode", "strict"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "eval-replay",
      mode: "strict",
      accuracy: 0.5,
      restraint: 1,
      mean: 0.75,
      official: null,
      outputs: 3,
      byCategory: { simple_python: { outputs: 2, right: 1, accuracy: 0.5 }, irrelevance: { accuracy: 1 } },
      byModel: { a: { accuracy: 0.5, restraint: 1 } },
      timing: { texts: 3 },
      threw: 0,
    });
  });

  it("shows failures, and tells what it passed over", async () => {
    folders.recorded("a", "simple", {
      simple_1: lima,
      simple_0: "No \u001b[31midea.",
      simple_7: lima,
      sql_1: "x",
    });
    folders.recorded("a", "relevance", { relevance_0: "Five metres.", relevance_1: lima });
    folders.file("outputs/result/a/broken_result.json", "{");
    const { code, stderr } = await replay(["--show-failures", "1"]);
    expect(code).toBe(0);
    expect(stderr).toContain('a simple_python_1: get_weather: "city" is "Lima", not one of ["Oslo"]\n');
    expect(stderr).toContain("  answer  get_weather {");
    expect(stderr).toContain("a irrelevance_1: calls get_weather, and should not\n");
    expect(stderr).not.toContain("simple_python_0");
    expect(stderr).toMatch(/1 line cannot be used, the first: .*broken_result\.json:1: /);
    expect(stderr).toContain("Outputs of categories that are not judged: 1 of sql\n");
    expect(stderr).toContain("1 output without a case: simple_python_7\n");
  });

  it("finds the cases where --cases says, and takes only some models and categories", async () => {
    folders.recorded("a", "simple", { simple_0: lima });
    folders.recorded("b", "simple", { simple_0: "no" });
    folders.file("elsewhere/BFCL_v4_irrelevance.json", "");
    const words = [
      "--cases",
      folders.cases,
      "--models",
      "b",
      "--categories",
      "simple_python, multiple",
      "--json",
    ];
    const { stdout } = await replay(words);
    expect(JSON.parse(stdout)).toMatchObject({ accuracy: 0, outputs: 1, restraint: null, mean: null });
    expectError(
      await replay(["--cases", join(folders.root, "elsewhere")]),
      "option-invalid",
      "none of them is of a case that can be judged",
    );
  });

  it.each<[what: string, words: string[], code: string, says: string]>([
    ["no data folder", ["--data", "nowhere"], "option-invalid", "There are no recorded outputs in"],
    ["a wrong mode", ["--mode", "loose"], "option-invalid", "It is one of: strict, safe, lenient."],
    ["a wrong category", ["--categories", "java"], "option-invalid", "It is one of: simple_python,"],
    ["a wrong model", ["--models", "c"], "option-invalid", "It is one of: a."],
    ["a wrong number", ["--show-failures", "many"], "option-invalid", "whole number from 1 on"],
    ["no cases", ["--cases", "nowhere"], "option-invalid", "There are no cases in nowhere"],
  ])("refuses %s", async (...[, words, code, says]) => {
    folders.recorded("a", "simple", { simple_0: lima });
    expectError(await replay(words), code, says);
  });

  it("refuses an empty data folder, and one without outputs", async () => {
    folders.file("outputs/README.md", "nothing");
    expectError(await replay(), "option-invalid", "no such file");
    folders.file("outputs/result/a/notes.txt", "nothing");
    expectError(await replay(), "option-invalid", "no folder in it has a file of outputs");
  });

  it("stands behind the script `eval` of the repository", () => {
    folders.recorded("a", "simple", { simple_0: lima, simple_1: "No idea." });
    const words = ["replay", "--data", folders.data, "--cases", folders.cases, "--mode", "safe", "--json"];
    const stdout = execFileSync("npm", ["run", "--silent", "eval", "--", ...words], {
      cwd: join(import.meta.dirname, "../.."),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(JSON.parse(stdout)).toMatchObject({
      type: "eval-replay",
      mode: "safe",
      accuracy: 0.5,
      outputs: 2,
    });
  });

  it("needs --data", async () => {
    const { code, stderr } = await lab(["replay"]);
    expect(code).toBe(2);
    expect(stderr).toContain("required option '--data <dir>' not specified");
  });
});

const embedded = existsSync(modelPath(catalogueModel("smollm2-135m").name));
if (!embedded) console.log("skipped: the embedded model is not fetched (writ models pull smollm2-135m)");

describe("eval bfcl", () => {
  it.each<[what: string, words: string[], code: string, says: string]>([
    ["a wrong driver", ["--driver", "morse"], "option-invalid", "It is one of: auto, native, json"],
    ["a wrong limit", ["--limit", "0"], "option-invalid", "whole number from 1 on"],
    ["no cases", ["--cases", "nowhere"], "option-invalid", "There are no cases in nowhere"],
    [
      "a category without cases",
      ["--categories", "live_simple"],
      "option-invalid",
      "no cases of the category live_simple",
    ],
  ])("refuses %s", async (...[, words, code, says]) => {
    const usual = ["--model", "ollama/m", "--driver", "json", "--cases", folders.cases];
    expectError(await lab(["bfcl", ...usual, ...words]), code, says);
  });

  it("says which models there are where the name is none of them", async () => {
    const words = ["--model", "gpt", "--driver", "json", "--cases", folders.cases];
    const { code, stdout, stderr } = await lab(["bfcl", ...words]);
    expect(stderr).toContain("error[model-name-invalid] ");
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
  });

  it("measures what the program decides alone, and takes the right tools away", async () => {
    const words = ["--model", "none", "--driver", "guided", "--cases", folders.cases, "--json"];
    const whole = JSON.parse(
      (await lab(["bfcl", ...words, "--categories", "simple_python,multiple"])).stdout,
    );
    expect(whole.drivers).toMatchObject([{ driver: "guided", outputs: 3, restraint: null, error: null }]);
    const left = await lab(["bfcl", ...words, "--categories", "simple_python,multiple", "--withhold"]);
    expect(JSON.parse(left.stdout).drivers).toMatchObject([{ outputs: 1, accuracy: null }]); // the other cases have no other tool
  });

  it.skipIf(!embedded)("asks a real model through several drivers, and prints a row for each", async () => {
    const words = ["--model", "llama-cpp/smollm2-135m", "--driver", "json,lines", "--cases", folders.cases];
    const some = ["--categories", "simple_python,irrelevance", "--limit", "1", "--max-tokens", "60"];
    const { code, stdout } = await lab(["bfcl", ...words, ...some, "--json"]);
    expect(code).toBe(0);
    const { type, model, drivers } = JSON.parse(stdout);
    expect({ type, model }).toEqual({ type: "eval-bfcl", model: "llama-cpp/smollm2-135m" });
    expect(drivers).toMatchObject([
      { driver: "json", outputs: 2, drivers: ["json"], error: null },
      { driver: "lines", outputs: 2, drivers: ["lines"], error: null },
    ]);
    const table = await lab(["bfcl", ...words, ...some, "--show-failures", "1"]);
    expect(table.stdout).toMatch(/^driver +simple_python +irrelevance +valid +accuracy/);
    expect(table.stdout.trim().split("\n")).toHaveLength(3);
    expect(table.stderr).toContain("json: 2 cases\n");
  });
});
