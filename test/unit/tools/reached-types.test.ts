import { describe, expect, it } from "vitest";
import { reachedTypes } from "../../../tools/reached-types.ts";

/** The text of each file that is kept, of an entry `index.d.ts` and the files beside it. */
function kept(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const given = Object.entries(files).map(([path, text]) => ({ path: `dist/${path}`, text }));
  return Object.fromEntries(
    reachedTypes(["dist/index.d.ts"], given).map(({ path, text }) => [
      path.replace("dist/", ""),
      text.trim(),
    ]),
  );
}

describe("the declarations of the package", () => {
  it("are those that an entry leads to, with their comments", () => {
    const files = {
      "index.d.ts": 'export { type Seen, see } from "./a/see.ts";\n',
      "a/see.d.ts": `import type { Deep, Hidden } from "../deep.ts";
/** Sees. */
export declare function see(): Deep;
/** Nobody comes here. */
export declare function look(hidden: Hidden): void;
export interface Seen {
    /** The parts. */
    readonly parts: {
        readonly deep: Local;
    };
}
type Local = Deep;
`,
      "deep.d.ts": "/** Deep. */\nexport type Deep = 1;\nexport type Hidden = 2;\n",
      "other.d.ts": "export type Other = 1;\n",
    };
    expect(kept(files)).toEqual({
      "index.d.ts": 'export { Seen, see } from "./a/see.ts";',
      "a/see.d.ts": `import { Deep } from "../deep.ts";
/** Sees. */
export declare function see(): Deep;
export interface Seen {
\t/** The parts. */
\treadonly parts: {
\t\treadonly deep: Local;
\t};
}
type Local = Deep;`,
      "deep.d.ts": "/** Deep. */\nexport type Deep = 1;",
    });
  });

  it("are found behind another name, behind a file that hands them on, and by every overload", () => {
    const files = {
      "index.d.ts": '/** The entry. */\nimport "./check.ts";\nexport { out } from "./between.ts";\n',
      "between.d.ts":
        'import { inner as mine } from "./inner.js";\nexport { mine as out, mine as unseen };\n',
      "inner.d.ts":
        "export declare function inner(one: One): void;\nexport declare function inner(two: Two): void;\ndeclare class One {\n}\ninterface Two {\n}\n",
      "check.d.ts": "export {};\n",
    };
    expect(kept(files)).toEqual({
      "index.d.ts": '/** The entry. */\nexport { out } from "./between.ts";',
      "between.d.ts": 'import { inner as mine } from "./inner.js";\nexport { mine as out };',
      "inner.d.ts": files["inner.d.ts"].trim(),
    });
  });

  it("are loaded by an entry together with the entries that have names of its types", () => {
    const files = {
      "index.d.ts": 'export { see } from "./see.ts";',
      "names.d.ts": 'export { Seen, Deep } from "./see.ts";',
      "own/own.d.ts": 'import { see } from "../see.ts";\nexport declare const own: typeof see;',
      "see.d.ts":
        "export interface Deep {}\nexport interface Seen {\n\treadonly deep: Deep;\n}\nexport declare function see(): Seen;",
    };
    const given = Object.entries(files).map(([path, text]) => ({ path, text }));
    const entries = ["index.d.ts", "names.d.ts", "own/own.d.ts"];
    expect(reachedTypes(entries, given).map(({ text }) => text)).toEqual([
      `${files["index.d.ts"]}\nimport "./names.js";`,
      files["names.d.ts"],
      `${files["own/own.d.ts"]}\nimport "../index.js";`, // which loads the names
      files["see.d.ts"],
    ]);
  });
});
