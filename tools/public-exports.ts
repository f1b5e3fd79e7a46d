import { posix } from "node:path";
import type { SourceFile } from "./source-files.ts";

/** A name that a user of the package can import. */
export interface PublicExport {
  readonly name: string;
  readonly path: string;
  readonly kind: "value" | "type";
  readonly doc: string | undefined;
}

const declaration = (name: string): RegExp =>
  new RegExp(
    String.raw`(/\*\*(?:[^*]|\*(?!/))*\*/\s*)?^export (?:declare )?(?:async )?(const|let|function\*?|class|interface|type)\s+${name}\b`,
    "m",
  );

/** Everything that the entry files export, with the doc comment where it is declared. */
export function publicExports(entries: readonly string[], files: readonly SourceFile[]): PublicExport[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]));
  return entries.flatMap((entry) => {
    const text = byPath.get(entry) ?? "";
    const own = [...text.matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm)].map(
      (match) => described(match[1] ?? "", entry, text),
    );
    const passedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)"/gm)].flatMap((match) => {
      const path = posix.join(posix.dirname(entry), match[2] ?? "");
      const names = (match[1] ?? "").split(",").map((name) => name.trim().replace(/^type /, ""));
      return names.filter((name) => name !== "").map((name) => described(name, path, byPath.get(path) ?? ""));
    });
    return [...own, ...passedOn];
  });
}

function described(name: string, path: string, text: string): PublicExport {
  const match = declaration(name).exec(text);
  const kind = match?.[2] === "interface" || match?.[2] === "type" ? "type" : "value";
  return { name, path, kind, doc: match?.[1] };
}

/** Exports without a doc comment, and values without an example. */
export function exportComplaints(exports: readonly PublicExport[]): string[] {
  return exports.flatMap(({ name, path, kind, doc }) => {
    if (doc === undefined) return [`${path}: ${name} has no doc comment`];
    return kind === "value" && !doc.includes("@example") ? [`${path}: ${name} has no @example`] : [];
  });
}
