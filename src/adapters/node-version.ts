/** The oldest Node that strips types by itself and has everything writ needs. The same as `engines` in package.json. */
export const oldestNode = "22.18.0";

/** True if a version of Node (`24.1.0`) is at least {@link oldestNode}. */
export function nodeIsNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = numbersOf(version);
  const [oldestMajor = 0, oldestMinor = 0] = numbersOf(oldestNode);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

// Not by `localeCompare`: its first call takes 5 ms, and this code runs at every import.
function numbersOf(version: string): readonly number[] {
  return version.split(".").map(Number);
}

/** The runtime that runs this program in place of Node, with its version; undefined if it is Node. Each of them also names a version of Node. */
export function otherRuntime(): string | undefined {
  const { bun, deno } = process.versions;
  if (bun !== undefined) return `Bun ${bun}`;
  return deno === undefined ? undefined : `Deno ${deno}`;
}
