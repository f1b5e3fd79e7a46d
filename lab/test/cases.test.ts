import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCases } from "../bfcl/cases.ts";
import { type BfclCategory, caseIdOf } from "../bfcl/categories.ts";
import { toJsonSchema } from "../bfcl/json-schema.ts";
import type { BrokenLine } from "../read-lines.ts";
import { tool } from "../../src/tool/tool.ts";
import { type BfclFolders, makeBfclFolders } from "./bfcl-folders.ts";

let folders: BfclFolders;
const broken: BrokenLine[] = [];
beforeEach(() => {
  broken.length = 0;
  folders = makeBfclFolders();
});
afterEach(() => folders.remove());

describe("ids of cases", () => {
  it.each([
    ["simple_0", "simple_python", "simple_python_0"],
    ["relevance_239", "irrelevance", "irrelevance_239"],
    ["parallel_multiple_function_7", "parallel_multiple", "parallel_multiple_7"],
    ["multiple_12", "multiple", "multiple_12"],
    ["live_simple_3-1-0", "live_simple", "live_simple_3-1-0"],
    ["live_relevance_0-0-0", "live_relevance", "live_relevance_0-0-0"],
    ["java_4", undefined, "java_4"],
    ["simple", undefined, "simple"],
    ["constructor_1", undefined, "constructor_1"],
  ])("%s is of %s", (written, category, id) => {
    expect(caseIdOf(written)).toMatchObject({ category, id });
  });
});

describe("parameters", () => {
  it("become JSON Schema at every depth, and keep the rest", () => {
    const given = {
      type: "dict",
      properties: {
        type: { type: "any", description: "a property that is called type" },
        points: { type: "tuple", items: { type: "float" } },
        rows: { type: "array", items: { type: "dict", properties: { n: { type: "integer", default: 1 } } } },
        bag: { type: "dict", additionalProperties: { type: "float" } },
      },
      required: ["type"],
    };
    expect(toJsonSchema(given)).toEqual({
      type: "object",
      properties: {
        type: { description: "a property that is called type" },
        points: { type: "array", items: { type: "number" } },
        rows: {
          type: "array",
          items: { type: "object", properties: { n: { type: "integer", default: 1 } } },
        },
        bag: { type: "object", additionalProperties: { type: "number" } },
      },
      required: ["type"],
    });
  });
});

describe("a folder of cases", () => {
  it("gives a case as it is judged and as a model is told of it", () => {
    const test = openCases(folders.cases, (line) => broken.push(line))
      .read("multiple")
      .get("multiple_0");
    expect(test).toMatchObject({
      category: "multiple",
      messages: [{ role: "user", text: "Light in the kitchen, please." }],
      answers: [{ name: "lamp.on", arguments: { room: ["kitchen"], levels: [[1, 2.5], ""] } }],
    });
    expect(test?.functions[0]?.properties["levels"]).toEqual({ type: "array", items: { type: "float" } });
    expect(test?.tools[0]?.inputSchema).toMatchObject({
      type: "object",
      properties: { levels: { type: "array", items: { type: "number" } } },
    });
    expect(broken).toEqual([]);
  });

  it("tells of lines that cannot be used, and of cases without an answer", () => {
    folders.file(
      "bfcl/BFCL_v4_parallel.json",
      '{"id": "parallel_0", "question": [[{"role": "user", "content": "?"}]], "function": [{"name": "f"}]}\n{"id": 1}\n{"id": "parallel_9"}\nnot json\n[]\n',
    );
    const cases = openCases(folders.cases, (line) => broken.push(line)).read("parallel");
    expect([...cases.keys()]).toEqual(["parallel_0"]);
    expect(broken.map(({ line, reason }) => [line, reason])).toEqual([
      [4, expect.stringContaining("JSON")],
      [5, "it is no JSON object"],
      [2, "it is no case of parallel"],
      [3, "it lacks an answer, a question or functions"],
    ]);
  });

  it.each([
    ["is missing", "none", "ENOENT"],
    ["has no cases", "empty", "it has no file like BFCL_v4_multiple.json"],
  ])("that %s is told of", (_what, name, reason) => {
    folders.file("empty/README.md", "nothing here");
    expect(() => openCases(join(folders.root, name), (line) => broken.push(line))).toThrow(
      expect.objectContaining({ code: "option-invalid", hint: expect.stringContaining(reason) }),
    );
  });

  it("without answers is told of where answers are needed", () => {
    folders.file("bare/BFCL_v4_multiple.json", "{}");
    folders.file("bare/BFCL_v4_irrelevance.json", "{}");
    const folder = openCases(join(folders.root, "bare"), (line) => broken.push(line));
    expect(() => folder.read("multiple")).toThrow(
      expect.objectContaining({
        hint: expect.stringContaining("it has no answers of the category multiple"),
      }),
    );
    expect(() => folder.read("parallel")).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("it has no cases of the category parallel") }),
    );
    expect(folder.read("irrelevance").size).toBe(0);
  });
});

const published = join(import.meta.dirname, "../../../shared/data/bfcl");
const isThere = existsSync(published);
if (!isThere) console.log("skipped: the cases of BFCL are not in ../shared/data/bfcl");

describe.skipIf(!isThere)("the published cases", () => {
  it.each<[BfclCategory, number]>([
    ["simple_python", 400],
    ["multiple", 200],
    ["parallel", 200],
    ["parallel_multiple", 200],
    ["irrelevance", 240],
    ["live_simple", 258],
    ["live_multiple", 1053],
    ["live_parallel", 16],
    ["live_parallel_multiple", 24],
    ["live_irrelevance", 884],
    ["live_relevance", 16],
  ])("of %s are all read, and their tools can be offered", (category, count) => {
    const cases = openCases(published, (line) => broken.push(line)).read(category);
    expect(cases.size).toBe(count);
    expect(broken).toEqual([]);
    for (const { tools } of cases.values())
      for (const told of tools) expect(() => tool({ ...told, execute: () => null })).not.toThrow();
  });
});
