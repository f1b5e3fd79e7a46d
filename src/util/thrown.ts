/** The message of anything that was thrown; an object can be made so that it throws when it is looked at. Never throws. */
export function thrownText(thrown: unknown, otherwise = "something was thrown that cannot be shown"): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    return thrown.message === "" ? thrown.name : thrown.message;
  } catch {
    return otherwise;
  }
}

/** The code of an error of the system or of Node, like `ENOENT`; undefined where there is none. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
}
