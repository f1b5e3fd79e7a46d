/**
 * Compiles every ```ts block of the doc comments in src and of the documents, as a user's file that imports the built package.
 * Exits with 1 and the compiler's words when one does not compile.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, root, type SourceFile } from "./source-files.ts";

const folder = join(root, "node_modules/.cache/writ-examples");

/** The TypeScript blocks of a file; in doc comments the stars at the line's beginning are taken off. */
function examplesOf({ path, text }: SourceFile): string[] {
  const plain = path.endsWith(".md") ? text : text.replaceAll(/^\s*\* ?/gm, "");
  return [...plain.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
}

const documents = [
  ...filesUnder("docs", ".md"),
  ...filesUnder(".", "README.md").filter(({ path }) => path === "README.md"),
];
const examples = [...filesUnder("src", ".ts"), ...documents].flatMap((file) =>
  examplesOf(file).map((code, index) => ({
    name: `${file.path.replaceAll(/[/.]/g, "-")}-${index}.ts`,
    code,
  })),
);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { name, code } of examples) writeFileSync(join(folder, name), `${code}\nexport {};\n`);
const config = {
  extends: join(root, "tsconfig.json"),
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, rootDir: root },
  include: ["*.ts"],
};
writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
const { status, stdout } = spawnSync(
  process.execPath,
  [join(root, "node_modules/typescript/bin/tsc"), "-p", folder],
  { encoding: "utf8" },
);
console.log(status === 0 ? `${examples.length} examples compile` : stdout);
process.exitCode = status === 0 ? 0 : 1;
