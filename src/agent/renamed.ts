/** The causes of `endOn` that replace an older field with its value. */
const causesOf: Readonly<Record<string, (value: unknown) => readonly unknown[]>> = {
  onUnknownTool: (value) => (value === "throw" ? ["unknown-tool"] : []),
  throwOnToolFailure: (value) => (value === true ? ["tool-failure"] : []),
  stopOnToolBlock: (value) => (value === true ? ["blocked-call"] : []),
  stopOn: listed,
};

/** Says what to write in place of fields with older names; undefined if there are none. */
export function renamedText(given: Readonly<Record<string, unknown>>): string | undefined {
  const old = Object.entries(given).filter(([field]) => Object.hasOwn(causesOf, field));
  if (old.length === 0) return undefined;
  const added = old.flatMap(([field, value]) => causesOf[field]?.(value) ?? []);
  const fields = old.map(([field]) => `\`${field}\``).join(" and ");
  if (added.length === 0)
    return `leave out ${fields}: that is the default, and \`endOn\` says what ends a run.`;
  const causes = [...listed(given["endOn"]), ...added].map((cause) => JSON.stringify(cause)).join(", ");
  return `write \`endOn: [${causes}]\` in place of ${fields}.`;
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
