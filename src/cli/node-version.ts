/** The oldest Node that strips types by itself and has all that writ needs. The same as `engines` in package.json. */
export const oldestNode = "22.18.0";

/** Whether a version of Node (`24.1.0`) is at least {@link oldestNode}. */
export function nodeIsNewEnough(version: string): boolean {
  return version.localeCompare(oldestNode, "en", { numeric: true }) >= 0;
}
