/** Writes the pages of the site from docs, the catalogue of errors and the doc comments: npm run site does it, then builds. */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesUnder, root } from "../tools/source-files.ts";
import { apiPages, type Page } from "./api-pages.ts";
import { home } from "./home.ts";

const folder = join(import.meta.dirname, "pages");

/** All pages of the site. */
export function sitePages(): readonly Page[] {
  const docs = filesUnder("docs", ".md");
  const known = new Set(docs.map(({ path }) => path));
  const pages = docs.map(({ path, text }) => ({ path: pathOf(path), text: onSite(text, path, known) }));
  const errors = docs.find(({ path }) => path === "docs/errors.md")?.text ?? "";
  return [{ path: "index", text: home }, ...pages, ...errorPages(errors), ...apiPages()];
}

const pathOf = (path: string): string => path.replace("docs/", "").replace(/\.md$/, "");

/** The text of a page with links that lead on the site: to pages that are only named, and none to what is not a page. */
function onSite(text: string, path: string, known: ReadonlySet<string>): string {
  const here = dirname(path);
  const parts = text.split(/(^```[\s\S]*?^```$)/m);
  return parts
    .map((part) => {
      if (part.startsWith("```")) return part.replace(/^```ts run/, "```ts");
      return part
        .replaceAll(/`(docs\/[\w/-]+\.md)`/g, (code, named: string) =>
          known.has(named) ? `[${code}](/${pathOf(named)})` : code,
        )
        .replaceAll(/\[([^\]]*)\]\(([^):]+)\)/g, (_link, label: string, target: string) => {
          const [named = "", anchor] = target.split("#");
          if (named === "") return `[${label}](#${anchor})`;
          const file = join(here, named);
          return known.has(file)
            ? `[${label}](/${pathOf(file)}${anchor === undefined ? "" : `#${anchor}`})`
            : label;
        });
    })
    .join("");
}

/** A page for each code, so that an error can be looked up and linked to. */
function errorPages(list: string): readonly Page[] {
  return list
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [code = "", ...rest] = part.split("\n");
      const text = `# ${code}\n\n${rest.join("\n").trim()}\n\n[All errors](/errors#${code})\n`;
      return { path: `errors/${code}`, text };
    });
}

/** Writes the pages, and what is shown beside their words. */
export function writePages(): number {
  rmSync(folder, { recursive: true, force: true });
  const pages = sitePages();
  for (const { path, text } of pages) {
    const file = join(folder, `${path}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  cpSync(join(import.meta.dirname, "public"), join(folder, "public"), { recursive: true });
  const pictures = join(root, "docs/pictures");
  if (existsSync(pictures)) cpSync(pictures, join(folder, "public/pictures"), { recursive: true });
  return pages.length;
}
