import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of writ's pages, which are part of the package. A bundle of a program has none. */
export const pagesFolder: string = fileURLToPath(new URL("../../docs", import.meta.url));

/** The page of an error: a command that prints it, and the line of its file, which terminals and editors open. */
export function placeOf(code: string): string {
  const line = existsSync(join(pagesFolder, "errors.md")) ? lineOf(pageText("errors.md"), `## ${code}`) : 0;
  return `npx writ errors ${code}${line === 0 ? "" : ` (${shownPath("errors.md")}:${line})`}`;
}

/** The number of the first line that has a text, or 0. */
export function lineOf(page: string, text: string): number {
  const isHeading = text.startsWith("#");
  return page.split("\n").findIndex((line) => (isHeading ? line === text : line.includes(text))) + 1;
}

export function pageText(name: string): string {
  return readFileSync(join(pagesFolder, name), "utf8");
}

export function shownPath(name: string): string {
  return relative(process.cwd(), join(pagesFolder, name));
}
