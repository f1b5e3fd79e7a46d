/** Names of tools that the runtime provides itself. An author's own tools cannot have them. */
export const reservedNames: ReadonlySet<string> = new Set([
  "memory_read",
  "memory_write",
  "memory_search",
  "escalate",
  "throwException",
]);
