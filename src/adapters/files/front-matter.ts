/** A Markdown file in its two parts. */
export interface FrontMatter {
  /** The YAML between the two lines of `---`. */
  readonly head: string;
  /** What stands after them, without blank lines around it. */
  readonly body: string;
}

/** The line in which the head begins: the first one has the `---`. */
export const headLine = 2;

/** Parts a Markdown file, or says why it has no front matter. A line that is `---` alone ends it; later ones belong to the body. */
export function splitFrontMatter(text: string): FrontMatter | { readonly reason: string } {
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (opening === null)
    return { reason: "it does not begin with front matter: a line `---`, fields, a line `---`" };
  const rest = text.slice(opening[0].length);
  const closing = /^---[ \t]*\r?$/m.exec(rest);
  if (closing === null) return { reason: "its front matter does not end: a line `---` is missing" };
  return {
    head: rest.slice(0, closing.index),
    body: rest.slice(closing.index + closing[0].length).trim(),
  };
}
