import { WritError } from "../../error/writ-error.ts";

const longestName = 64;

/**
 * A callable name for each tool of a server, in their order: `server.tool`, with `_` for characters that a name cannot have. Names that are
 * callable already stay as they are, whatever others become.
 *
 * @throws WritError `name-taken` when two tools have one name
 */
export function toolNames(names: readonly string[], server: string | undefined): string[] {
  const wanted = names.map((name) => (server === undefined ? name : `${server}.${name}`));
  const given = new Set<string>();
  for (const name of wanted) {
    if (given.has(name))
      throw new WritError("name-taken", {
        kind: "tool",
        name,
        where: `the MCP server ${server ?? ""}`.trim(),
      });
    given.add(name);
  }
  const taken = new Set(wanted.filter((name) => callable(name) === name));
  return wanted.map((name) => {
    const plain = callable(name);
    if (plain === name) return name;
    let free = plain;
    for (let count = 2; taken.has(free); count += 1) free = `${plain.slice(0, longestName - 4)}_${count}`;
    taken.add(free);
    return free;
  });
}

function callable(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_./-]/g, "_");
  return (/^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`).slice(0, longestName);
}
