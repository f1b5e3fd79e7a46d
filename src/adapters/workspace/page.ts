import { count } from "./workspace.ts";

/** A page of many finds, which the model is shown at once. */
export interface Page {
  /** False once the page is full: the find was not taken, and the search can stop. */
  readonly add: (line: string) => boolean;
  readonly text: (notes: readonly string[]) => string;
}

const mostLines = 200;

/** A page that leaves out this many finds at its beginning. */
export function pageOf(offset: number, outputChars: number): Page {
  const lines: string[] = [];
  let seen = 0;
  let chars = 0;
  let isFull = false;
  return {
    add(line) {
      seen += 1;
      if (seen <= offset) return true;
      isFull = lines.length >= mostLines || (lines.length > 0 && chars + line.length > outputChars);
      if (isFull) return false;
      lines.push(line);
      chars += line.length + 1;
      return true;
    },
    text(notes) {
      const last = offset + lines.length;
      const none = offset === 0 ? "nothing was found" : `nothing after find ${seen}`;
      const end = isFull
        ? `finds ${offset + 1} to ${last}, and there are more; go on with offset ${last}`
        : lines.length === 0
          ? none
          : `${count(seen, "find")} in all`;
      return [...lines, `[${[end, ...notes].join("; ")}]`].join("\n");
    },
  };
}
