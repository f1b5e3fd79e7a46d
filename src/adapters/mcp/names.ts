import { skeletonOf } from "../../agent/describe/audit-look-alike.ts";
import { WritError } from "../../error/writ-error.ts";
import { fingerprint } from "../../util/hash.ts";
import { visible } from "../../util/visible.ts";
import { hiddenInName, mixesScripts } from "./screen.ts";

const longestName = 64;
const longestOwnName = 200;
const markLength = 6;

/** The server whose tools are named, and the names that are taken. */
export interface Naming {
  /** The author's name for the server; undefined leaves the tools as the server calls them. */
  readonly server: string | undefined;
  /** Names of tools that the agent has from elsewhere. */
  readonly beside: readonly string[];
}

/**
 * A callable name for each tool of a server: `server/tool`, in which characters that a name cannot have are `_`. Where letters were lost, or the
 * end, its own end is a fingerprint of the whole, so that the name depends on no other tool.
 *
 * @throws WritError `mcp-refused` for a name that hides something, mixes scripts, or can be taken for that of another tool; `name-taken` when two
 * tools have the very same
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

/** A thing that a server has, with what tells it apart from all others there. */
interface Named {
  readonly own: string;
  readonly key: string;
}

/**
 * Names for things of which several may have one name, as files of different folders do: behind that of each stands a fingerprint of what tells it apart. So it
 * does where a tool of the server has the name.
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
