import { composed, hasHidden, maxValueLength } from "./normal.ts";

const drive = /^[a-z]:(?=[\/\\])/iv;
const separated = /[\/\\]/v;

/**
 * The canonical spelling of a path: no empty parts, no `.`, and no `..` above the root; after a name `..` is kept, because that may be a link. Case and spaces
 * stay; a bare name is a path of one part. Accents have one spelling (NFC), but a full-width letter is another name. Backslashes separate parts if a path has
 * no slash. A path with both has none, nor has one that spans lines, begins or ends with white space, or is an address (`x://`, `//x`).
 */
export function canonicalPath(value: string): string | undefined {
  return read(value, true);
}

/** The path with each `..` resolved by name: what a user means by one, even if a part is a link. */
export function shortenedPath(value: string): string | undefined {
  return read(value, false);
}

function read(value: string, keepsBack: boolean): string | undefined {
  if (value === "" || value.length > maxValueLength || value.trim() !== value) return undefined;
  const text = composed(value);
  if (/[\t\n\v\f\r\u{2028}\u{2029}]/v.test(text) || hasHidden(text)) return undefined;
  return separated.test(text) ? normalised(text, keepsBack) : text;
}

function normalised(text: string, keepsBack: boolean): string | undefined {
  const separator = text.includes("/") ? "/" : "\\";
  if (separator === "/" && text.includes("\\")) return undefined;
  if (text.includes("://") || /^(?:\/\/|\\\\)/v.test(text)) return undefined;
  const start = drive.exec(text)?.[0] ?? "";
  const rest = text.slice(start.length);
  const root = rest.startsWith(separator) ? separator : "";
  const isLinkable = keepsBack && separator === "/" && start === "";
  const parts = withoutDots(rest.split(separator), { isRooted: root !== "", isLinkable });
  const path = `${start}${root}${parts.join(separator)}` || ".";
  return path.trim() === path ? path : undefined;
}

/** The path without `..`. Windows resolves `..` by name; elsewhere it follows the name before it, which may be a link. */
function withoutDots(
  parts: readonly string[],
  { isRooted, isLinkable }: { readonly isRooted: boolean; readonly isLinkable: boolean },
): readonly string[] {
  const kept: string[] = [];
  for (const part of parts) {
    if (part === "" || part === ".") continue;
    const isAtStart = kept.length === 0;
    if (part === ".." && isRooted && isAtStart) continue;
    const isKept = part !== ".." || isAtStart || isLinkable || kept.at(-1) === "..";
    if (isKept) kept.push(part);
    else kept.pop();
  }
  return kept;
}
