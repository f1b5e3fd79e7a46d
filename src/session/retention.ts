import { checkCount, checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { estimateTokens } from "../message/usage.ts";
import { anything, callable } from "../util/shape.ts";

/**
 * Chooses the lines of a text that stay; called at each write with all lines. An error leaves the memory as it was.
 */
export type Retention = (lines: readonly string[]) => readonly string[] | Promise<readonly string[]>;

/** Makes a short text from many lines: a function, which may ask an agent. */
export type Digest = (lines: readonly string[]) => string | Promise<string>;

/**
 * Keeps everything.
 *
 * @example
 * ```ts
 * import { memoryBank } from "writ";
 * import { keepAll } from "writ/session";
 *
 * export const bank = memoryBank({ retention: keepAll() });
 * ```
 */
export function keepAll(): Retention {
  return (lines) => lines;
}

/**
 * Keeps the last `count` lines.
 *
 * @throws WritError `definition-invalid` for anything but a whole number of at least 1
 * @example
 * ```ts
 * import { memoryBank } from "writ";
 * import { slidingLines } from "writ/session";
 *
 * export const bank = memoryBank({ retention: slidingLines(100) });
 * ```
 */
export function slidingLines(count: number): Retention {
  checkCount(count, "`slidingLines`");
  return (lines) => lines.slice(-count);
}

/**
 * Keeps as many of the last lines as fit into so many tokens, and always the very last one. Tokens are estimates: one for 4 characters.
 *
 * @throws WritError `definition-invalid` for anything but a whole number of at least 1
 * @example
 * ```ts
 * import { memoryBank } from "writ";
 * import { tokenBudget } from "writ/session";
 *
 * export const bank = memoryBank({ retention: tokenBudget(2000) });
 * ```
 */
export function tokenBudget(tokens: number): Retention {
  checkCount(tokens, "`tokenBudget`");
  return (lines) => {
    let from = lines.length - 1;
    let characters = lines[from]?.length ?? 0;
    for (; from > 0; from -= 1) {
      characters += 1 + (lines[from - 1]?.length ?? 0);
      if (estimateTokens(characters) > tokens) break;
    }
    return lines.slice(Math.max(0, from));
  };
}

/**
 * Keeps the last `keepRecent` lines, and a digest of the lines before them, which `digest` makes anew at each write that has more. An empty
 * digest leaves no line.
 *
 * @throws WritError `definition-invalid` for anything but a whole number of at least 1; a write fails with `summary-failed` if `digest`
 * returns no text, and with the error that `digest` throws
 * @example
 * ```ts
 * import { memoryBank } from "writ";
 * import { summarised } from "writ/session";
 *
 * export const bank = memoryBank({
 *   retention: summarised({ keepRecent: 20, digest: (lines) => `${lines.length} older notes, the first: ${lines[0]}` }),
 * });
 * ```
 */
export function summarised(options: { readonly keepRecent: number; readonly digest: Digest }): Retention {
  checkShape("`summarised`", options, summarisedShape);
  const { keepRecent, digest } = options;
  checkCount(keepRecent, "`summarised`");
  return async (lines) => {
    if (lines.length <= keepRecent) return lines;
    const text = await digest(lines.slice(0, -keepRecent));
    if (typeof text !== "string")
      throw new WritError("summary-failed", { where: "memory", reason: "`digest` gave no text" });
    return [...linesOf(text), ...lines.slice(-keepRecent)];
  };
}

const summarisedShape = closed({ keepRecent: anything, digest: callable });

/** The lines of a text. A final line break ends the last line and begins no other; an empty text has no lines. */
export function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
