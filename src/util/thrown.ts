/** The message of anything that was thrown; an object can be made so that it throws when it is looked at. Never throws. */
export function thrownText(thrown: unknown, otherwise = "something was thrown that cannot be shown"): string {
  try {
    if (thrown instanceof AggregateError && thrown.message === "" && thrown.errors.length > 0)
      return thrown.errors
        .slice(0, mostErrors)
        .map((each) => thrownText(each))
        .join("; ");
    if (thrown instanceof Error) return thrown.message === "" ? thrown.name : thrown.message;
    const text = String(thrown);
    return text === "[object Object]" ? objectText(Object(thrown)) : text;
  } catch {
    return otherwise;
  }
}

/** The errors that are named of several in one. */
const mostErrors = 5;

/** The message of an object that is no error; else the names of its fields, whose values may be secret. */
function objectText(thrown: Readonly<Record<string, unknown>>): string {
  const { message } = thrown;
  if (typeof message === "string" && message !== "") return message;
  const fields = Object.keys(thrown).slice(0, 20).join(", ");
  return fields === "" ? "an object without fields" : `an object with ${fields}`;
}

/** The code of an error of the system or of Node, like `ENOENT`; undefined where there is none. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
}
