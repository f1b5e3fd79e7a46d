import { skeletonOf } from "../../agent/describe/audit-look-alike.ts";
import { WritError } from "../../error/writ-error.ts";
import { fingerprint } from "../../util/hash.ts";
import { visible } from "../../util/visible.ts";
import { hiddenInName, mixesScripts } from "./screen.ts";

const longestName = 64;
const longestOwnName = 200;
const markLength = 6;

/** The server whose tools are named, with the names that are taken. */
export interface Naming {
  /** The author's name for the server; undefined leaves the tools' names as the server has them. */
  readonly server: string | undefined;
  /** The names of the agent's other tools. */
  readonly beside: readonly string[];
}

/**
 * Makes a callable name for each tool of a server: `server/tool`, with `_` for characters that a name cannot have. If letters were replaced, or the
 * end was cut, it ends with a fingerprint of the whole name, so that it does not depend on other tools.
 *
 * @throws WritError `mcp-refused` for a name that hides characters, mixes scripts, or can be confused with that of another tool; `name-taken` if two
 * tools have the same name
 */
export function toolNames(names: readonly string[], { server, beside }: Naming): readonly string[] {
  const where = server ?? "(unnamed)";
  const seen = new Map(beside.map((name) => [skeletonOf(name), name]));
  const given = new Set<string>();
  return names.map((own) => {
    const fault = faultOf(own);
    if (fault !== undefined) throw refused(where, own, fault);
    if (given.has(own))
      throw new WritError("name-taken", { kind: "tool", name: own, where: `the MCP server ${where}` });
    given.add(own);
    const name = callable(server === undefined ? own : `${server}/${own}`);
    const skeleton = skeletonOf(server === undefined ? own : `${server}/${own}`);
    const other = seen.get(skeleton);
    if (other !== undefined) throw refused(where, own, `it can be taken for the tool "${other}".`);
    seen.set(skeleton, name);
    return name;
  });
}

/** A thing of a server, with the text that identifies it there. */
interface Named {
  readonly own: string;
  readonly key: string;
}

/**
 * Names for things that may share a name, like files in different folders: each gets a fingerprint of its identifying text as its end. The same happens
 * if a tool of the server has the name.
 */
export function namesApart(
  things: readonly Named[],
  { server, beside }: Naming & { readonly server: string },
): readonly string[] {
  const tools = new Set(beside);
  const alike = Map.groupBy(things, ({ own }) => skeletonOf(own));
  return things.map(({ own, key }) => {
    const isAlone = alike.get(skeletonOf(own))?.length === 1 && !tools.has(`${server}/${own}`);
    return isAlone ? own : `${own}-${fingerprint(key).slice(-markLength)}`;
  });
}

function faultOf(name: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "") return "it has no name.";
  if (name.length > longestOwnName) return `its name has ${name.length} characters.`;
  const hidden = hiddenInName(name);
  if (hidden !== undefined) return `its name has the hidden character ${hidden.codePoint}.`;
  return mixesScripts(name) ? "its name mixes letters of scripts that look alike." : undefined;
}

function refused(server: string, name: unknown, reason: string): WritError<"mcp-refused"> {
  const shown = visible(String(name)).slice(0, longestName);
  return new WritError("mcp-refused", { server, what: `the tool "${shown}"`, reason });
}

function callable(name: string): string {
  const folded = name.slice(0, 4 * longestName).normalize("NFKC");
  const plain = folded.replaceAll(/[^a-zA-Z0-9_./-]/g, "_");
  const whole = /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
  const lostLetters = /[^\p{ASCII}]/u.test(folded);
  if (!lostLetters && whole.length <= longestName) return whole;
  return `${whole.slice(0, longestName - markLength - 1)}_${fingerprint(name).slice(-markLength)}`;
}
