import { describe, expect, it } from "vitest";
import { cycles, layerComplaints } from "../../../tools/layers.ts";
import { nameComplaints } from "../../../tools/names.ts";
import { exportComplaints, publicExports } from "../../../tools/public-exports.ts";
import { importsOf } from "../../../tools/source-files.ts";

const file = (path: string, text: string): { path: string; text: string } => ({ path, text });

describe("the checks of the house can fail", () => {
  it("finds imports of every form", () => {
    const text = `import a from "./a.ts";\nimport type { B } from './b.ts';\nimport "./c.ts";\nexport { d } from "./d.ts";\nconst e = await import("./e.ts");\nexport {\n  f,\n} from "./f.ts";\n// import x from "./x.ts"\n/* import y from "./y.ts" */`;
    expect(importsOf(file("src/a/b.ts", text)).toSorted()).toEqual([
      "./a.ts",
      "./b.ts",
      "./c.ts",
      "./d.ts",
      "./e.ts",
      "./f.ts",
    ]);
  });

  it("finds upward imports, machine imports in the core and folders that are no layer", () => {
    expect(layerComplaints([file("src/tool/a.ts", 'import type { X } from "../turn/x.ts";')])).toHaveLength(
      1,
    );
    expect(layerComplaints([file("src/turn/a.ts", 'import { y } from "../tool/y.ts";')])).toEqual([]);
    expect(layerComplaints([file("src/turn/a.ts", 'import fs from "node:fs";')])).toHaveLength(1);
    expect(layerComplaints([file("src/cli/a.ts", 'import fs from "node:fs";')])).toEqual([]);
    expect(layerComplaints([file("src/stuff/a.ts", "")])).toHaveLength(1);
    expect(layerComplaints([file("src/turn/a.ts", 'import { x } from "../index.ts";')])).toHaveLength(1);
  });

  it("takes a folder inside another for a layer where it is listed as one", () => {
    const study = 'import type { Fact } from "../../event/event.ts";';
    expect(layerComplaints([file("src/policy/study/a.ts", study)])).toEqual([]);
    expect(layerComplaints([file("src/policy/rules/a.ts", study)])).toHaveLength(1);
    expect(
      layerComplaints([file("src/policy/rules/a.ts", 'import { lint } from "../study/lint.ts";')]),
    ).toHaveLength(1);
    expect(layerComplaints([file("src/policy/rules/a.ts", 'import { b } from "../values/b.ts";')])).toEqual(
      [],
    );
  });

  it("finds circles", () => {
    const a = file("src/a/a.ts", 'import type { B } from "./b.ts";');
    const b = file("src/a/b.ts", 'import { c } from "./c.ts";');
    expect(cycles([a, b, file("src/a/c.ts", 'import { a } from "./a.ts";')])).toEqual([
      "src/a/a.ts > src/a/b.ts > src/a/c.ts > src/a/a.ts",
    ]);
    expect(cycles([a, b, file("src/a/c.ts", "")])).toEqual([]);
  });

  it("finds words and names that the house does not use, but not in texts and comments", () => {
    expect(nameComplaints([file("src/a/utils.ts", "")])).toHaveLength(1);
    expect(nameComplaints([file("src/a/b.ts", "const maxIterations = 1; class ToolManager {}")])).toEqual([]);
    expect(
      nameComplaints([file("src/a/b.ts", "const iteration = 1; let helper; const toolGuardrail = 2;")]),
    ).toHaveLength(3);
    expect(nameComplaints([file("src/a/b.ts", 'const role = "assistant"; // the assistant')])).toEqual([]);
    expect(nameComplaints([file("src/a/b.ts", "const assistantReply = 1;")])).toHaveLength(1);
    expect(nameComplaints([file("src/a/b.ts", 'export * from "./c.ts";')])).toHaveLength(1);
  });

  it("finds exports without words and values without an example", () => {
    const files = [
      file(
        "src/index.ts",
        'export { a, type B } from "./x/a.ts";\nexport {\n  c,\n} from "./x/c.ts";\nexport type { D } from "./x/a.ts";',
      ),
      file("src/x/a.ts", "/** Says a. */\nexport const a = 1;\nexport interface B {}\nexport type D = B;"),
      file(
        "src/x/c.ts",
        "/** First. */\nconst other = 1;\n\n/**\n * Says c.\n *\n * @example\n */\nexport function c() {}",
      ),
    ];
    expect(exportComplaints(publicExports(["src/index.ts"], files))).toEqual([
      "src/x/a.ts: a has no @example",
      "src/x/a.ts: B has no doc comment",
      "src/x/a.ts: D has no doc comment",
    ]);
  });
});
