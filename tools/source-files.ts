import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** A source file: its path from the root of the repository, with slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The root of the repository. */
export const root: string = join(import.meta.dirname, "..");

/** All files under a folder whose names end with one of the endings. */
export function filesUnder(folder: string, ...endings: readonly string[]): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(root, path).replaceAll("\\", "/"), text: readFileSync(path, "utf8") };
    })
    .filter(({ path }) => !path.includes("node_modules/"));
}

/** What a file imports: the specifiers of its static and dynamic imports and re-exports, types included. */
export function importsOf({ text }: SourceFile): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const found = code.matchAll(
    /^(?:import|export)\s[^;"'`]*?from\s*["']([^"']+)["']|^import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gm,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}
