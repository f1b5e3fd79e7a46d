import { defineConfig } from "vitepress";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { maintainers, type Section, sections } from "../sections.ts";

const pages = join(import.meta.dirname, "../pages");

/** The heading of a page. */
function titleOf(page: string): string {
  const file = join(pages, `${page}.md`);
  return existsSync(file) ? (/^# (.+)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? page) : page;
}

const listOf = (parts: readonly Section[]): object[] =>
  parts.map(({ title, pages: names, isOpen = false }) => ({
    text: title,
    collapsed: !isOpen,
    items: names.map((page) => ({ text: titleOf(page), link: `/${page}` })),
  }));

const forMaintainers = listOf(maintainers);
const apart = Object.fromEntries(
  ["decisions", ...maintainers.flatMap(({ pages: names }) => names)].map((page) => [
    `/${page}`,
    forMaintainers,
  ]),
);

export default defineConfig({
  title: "writ",
  description:
    "A runtime for tool-calling agents: the model proposes a call, the program decides whether it runs.",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "node_modules/.cache/vitepress",
  cleanUrls: true,
  lastUpdated: false,
  ignoreDeadLinks: "localhostLinks",
  markdown: { html: false, lineNumbers: false },
  themeConfig: {
    nav: [
      { text: "Start", link: "/start" },
      { text: "Recipes", link: "/recipes" },
      { text: "Concepts", link: "/concepts" },
      { text: "API", link: "/api/" },
      { text: "Errors", link: "/errors" },
    ],
    sidebar: { ...apart, "/": listOf(sections) },
    search: { provider: "local" },
    outline: [2, 3],
    docFooter: { prev: "Before", next: "Next" },
    footer: { message: "MIT licence" },
  },
});
