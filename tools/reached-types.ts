import { posix } from "node:path";
import { importsOf, type SourceFile } from "./source-files.ts";

/** The declarations that no entry leads to: no user of the package can come to them. */
export function unreachedTypes(entries: readonly string[], files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set(entries);
  for (const path of reached) {
    const file = byPath.get(path);
    if (file === undefined) throw new Error(`${path} is not there`);
    for (const specifier of importsOf(file))
      if (specifier.startsWith("."))
        reached.add(posix.join(posix.dirname(path), specifier).replace(/\.(?:ts|js)$/, ".d.ts"));
  }
  return files.map(({ path }) => path).filter((path) => !reached.has(path));
}
