/** The statuses of calls that did not reach their tool. */
export const neverRan: ReadonlySet<string> = new Set(["denied", "invalid", "skipped"]);
