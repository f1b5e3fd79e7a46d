/** Pages of the public names, one for each entry of the package, made from the doc comments and the built declarations. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publicExports, type PublicExport } from "../tools/public-exports.ts";
import { filesUnder, root } from "../tools/source-files.ts";

/** A page of the site: its path without an ending, and its Markdown. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** The pages of all entries, the first of which lists the others. */
export function apiPages(): readonly Page[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  const files = filesUnder("src", ".ts");
  const pages = Object.entries(exports).flatMap(
    ([entry, at]): readonly (Page & { readonly names: number })[] => {
      if (typeof at === "string") return [];
      const source = at.types.replace("./dist/", "src/").replace(/\.d\.ts$/, ".ts");
      const found = publicExports([source], files).toSorted((one, other) =>
        one.name.localeCompare(other.name),
      );
      const name = entry.replace(".", "writ");
      const text = [`# ${name}`, ...found.map(described)].join("\n\n");
      return [{ path: `api/${pathOf(name)}`, text, names: found.length }];
    },
  );
  const list = pages.map(
    ({ path, text, names }) => `- [${text.slice(2, text.indexOf("\n"))}](/${path}), ${names} names`,
  );
  return [...pages, { path: "api/index", text: `# Every public name\n\n${list.join("\n")}\n` }];
}

const pathOf = (entry: string): string => entry.replaceAll("/", "-");

function described({ name, path, doc, kind }: PublicExport): string {
  return [
    `## ${name}`,
    textOf(doc),
    `\`\`\`ts\n${declarationOf(name, path) ?? `${kind} ${name}`}\n\`\`\``,
  ].join("\n\n");
}

/** The words of a doc comment, its tags as headings. */
function textOf(doc = ""): string {
  return doc
    .replaceAll(/^\s*\/\*\*|\*\/\s*$/g, "")
    .replaceAll(/^[ \t]*\* ?/gm, "")
    .trim()
    .replaceAll(/^@example/gm, "\n**Example**\n")
    .replaceAll(/@throws/g, "\n\n**Throws**")
    .replaceAll(/^@(\w+)/gm, "\n**$1**")
    .replaceAll("```ts run", "```ts");
}

/** The declaration as it was built, without the comments inside; undefined where it cannot be found. */
function declarationOf(name: string, path: string): string | undefined {
  const built = join(root, path.replace("src/", "dist/").replace(/\.ts$/, ".d.ts"));
  if (!existsSync(built)) return undefined;
  const text = readFileSync(built, "utf8");
  const start = new RegExp(
    String.raw`^export (?:declare )?(?:abstract )?(?:const|function|class|interface|type) ${name}\b`,
    "m",
  ).exec(text)?.index;
  if (start === undefined) return undefined;
  return wholeAt(text, start)
    .replace(/^export (declare )?/, "")
    .replaceAll(/[ \t]*\/\*\*(?:[^*]|\*(?!\/))*\*\/\n?/g, "");
}

/** The text from a place to the end of the declaration that begins there: its brackets are closed, and its line is over. */
function wholeAt(text: string, start: number): string {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    if ("{([".includes(sign)) depth += 1;
    if ("})]".includes(sign)) depth -= 1;
    if (depth === 0 && sign === "\n" && /[;}]$/.test(text.slice(start, at))) return text.slice(start, at);
  }
  return text.slice(start);
}
