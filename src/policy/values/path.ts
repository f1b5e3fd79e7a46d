import { composed, hasHidden, maxValueLength } from "./normal.ts";

const drive = /^[a-z]:(?=[\/\\])/iv;
const separated = /[\/\\]/v;

/**
 * The canonical spelling of a path: no empty parts, no `.`, and `..` only at the start of a relative one. Case and spaces stay as they are; a name
 * alone is a path of one part. Accents have one spelling (NFC), but a full-width letter is another name. Backslashes separate parts where a path has no
 * slash; a path with both is none, nor is one that spans lines, begins or ends with white space, or is an address (`x://`, `//x`).
 */
export function canonicalPath(value: string): string | undefined {
  if (value === "" || value.length > maxValueLength || value.trim() !== value) return undefined;
  const text = composed(value);
  if (/[\t\n\v\f\r\u{2028}\u{2029}]/v.test(text) || hasHidden(text)) return undefined;
  return separated.test(text) ? normalised(text) : text;
}

function normalised(text: string): string | undefined {
  const separator = text.includes("/") ? "/" : "\\";
  if (separator === "/" && text.includes("\\")) return undefined;
  if (text.includes("://") || /^(?:\/\/|\\\\)/v.test(text)) return undefined;
  const start = drive.exec(text)?.[0] ?? "";
  const rest = text.slice(start.length);
  const root = rest.startsWith(separator) ? separator : "";
  const parts = withoutDots(rest.split(separator), root !== "");
  const path = `${start}${root}${parts.join(separator)}` || ".";
  return path.trim() === path ? path : undefined;
}

function withoutDots(parts: readonly string[], rooted: boolean): readonly string[] {
  const kept: string[] = [];
  for (const part of parts) {
    if (part === "" || part === ".") continue;
    if (part !== ".." || (!rooted && (kept.length === 0 || kept.at(-1) === ".."))) kept.push(part);
    else kept.pop();
  }
  return kept;
}
