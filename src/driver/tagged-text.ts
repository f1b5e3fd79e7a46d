/** The beginnings of a text that may be calls in the tags of a model, as the recogniser reads them. */
const openings: readonly string[] = [
  "<tool_call",
  "<|tool_call",
  "<function_call",
  "<functioncall",
  "<function=",
  "<invoke name=",
  "<tool_code>",
  "<start_function_call>",
  "<|python_tag|>",
  "<|channel|>",
  "<｜tool▁call",
  "<｜DSML｜",
  "[TOOL_CALL",
];

/**
 * Follows a text while it is written, and gives back all of it, unless it may be calls in tags: such a text is given back only once it cannot be any more. A
 * model that calls says nothing before its tags.
 */
export function untaggedText(): (piece: string) => string {
  let held = "";
  let isSaid = false;
  return (piece) => {
    if (isSaid) return piece;
    held += piece;
    const text = held.trimStart().slice(0, longest);
    isSaid =
      text !== "" && openings.every((opening) => !opening.startsWith(text) && !text.startsWith(opening));
    return isSaid ? held : "";
  };
}

const longest = 32;
