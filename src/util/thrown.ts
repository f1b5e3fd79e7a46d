/** The message of anything that was thrown; an object can be made so that it throws when it is looked at. Never throws. */
export function thrownText(thrown: unknown, otherwise = "something was thrown that cannot be shown"): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    return thrown.message === "" ? thrown.name : thrown.message;
  } catch {
    return otherwise;
  }
}
