/** The statuses of calls that did not come to their tool. */
export const neverRan: ReadonlySet<string> = new Set(["denied", "invalid", "skipped"]);
