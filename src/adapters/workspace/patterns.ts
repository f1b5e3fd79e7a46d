import { messageOf } from "../../error/writ-error.ts";
import { linearFault } from "../../schema/linear-pattern.ts";
import { shownPath, type Workspace } from "./workspace.ts";

/**
 * Finds a pattern in a text: the beginning of its first match, or -1. Takes time linear in the text for any
 * pattern.
 */
export type Finder = (text: string) => number;

const longestPattern = 1000;

/** A text or a pattern to search, in the form of a model's arguments. */
export interface Wanted {
  readonly text: string;
  readonly isPattern: boolean;
  readonly ignoresCase: boolean;
}

/** The finder of a text or of a regular expression. Throws errors that the model can correct. */
export async function finderOf({ text, isPattern, ignoresCase }: Wanted): Promise<Finder> {
  if (isPattern) return expression(text, ignoresCase);
  if (!ignoresCase) return (line) => line.indexOf(text);
  const wanted = text.toLowerCase();
  return (line) => line.toLowerCase().indexOf(wanted);
}

/**
 * Makes the function that matches paths with a glob, for finds in the folder `start`. A glob without a slash matches the name alone, in any folder; any other
 * one matches the path from the top, or from that folder, because models mean either. A glob that begins with the folder of the tools is relative to it.
 */
export async function globMatcher(
  glob: string,
  workspace: Pick<Workspace, "root">,
  start: string,
): Promise<(path: string) => boolean> {
  const { root } = workspace;
  const isWhole = glob.startsWith(`${root}/`);
  const written = (isWhole ? glob.slice(root.length) : glob).replace(/^(?:\.?\/)+/, "");
  const find = await expression(`^(?:${globSource(written)})$`, false);
  const fits = (path: string): boolean => find(path) === 0;
  if (!glob.includes("/")) return (path) => fits(path.slice(path.lastIndexOf("/") + 1));
  const from = shownPath(workspace, start);
  const folder = isWhole || from === "." ? "" : `${from}/`;
  return (path) => fits(path) || (path.startsWith(folder) && fits(path.slice(folder.length)));
}

async function expression(source: string, ignoresCase: boolean): Promise<Finder> {
  if (source.length > longestPattern)
    throw new Error(`The pattern has more than ${longestPattern} characters; look for less.`);
  const fault = linearFault(source);
  if (fault !== undefined) throw new Error(`The pattern ${fault}.`);
  const { RE2JS } = await import("re2js");
  const flags = ignoresCase ? RE2JS.CASE_INSENSITIVE : 0;
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source), flags);
    return (text) => {
      const matcher = compiled.matcher(text);
      return matcher.find() ? matcher.start() : -1;
    };
  } catch (error) {
    throw new Error(`${JSON.stringify(source)} is no pattern that can be looked for: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

const globToken = /\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\]|[{},]|\\?[^]/gy;

/** A glob as a regular expression: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any folders. */
function globSource(glob: string): string {
  let open = 0;
  return (glob.match(globToken) ?? [])
    .map((token) => {
      if (token === "**/") return "(?:[^/]+/)*";
      if (token === "**") return String.raw`[\s\S]*`; // names have line breaks too
      if (token === "*") return "[^/]*";
      if (token === "?") return "[^/]";
      if (token.startsWith("[") && token.length > 2)
        return token.replace(/^\[!/, "[^").replaceAll("\\", String.raw`\\`);
      if (token === "{") {
        open += 1;
        return "(?:";
      }
      if (token === "}" && open > 0) {
        open -= 1;
        return ")";
      }
      if (token === "," && open > 0) return "|";
      return token.replace(/^\\(?=.)/s, "").replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
    })
    .join("")
    .concat(")".repeat(open));
}
