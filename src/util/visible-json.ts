/**
 * Characters that are not seen in a text, or that turn the line around. Joiners stay: scripts and emoji need
 * them.
 */
const unseen =
  /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udc7f]/g;

/** The beginning of what chat templates and protocols take for their own marks: `<|im_end|>`, `</tool_response>`, `</s>`, `<start_of_turn>`. */
const mark = /<(?=\||\/?(?:tool|function|im_|s>|bos|eos|start_|end_|system|user|assist|think))/gi;

/** JSON text in which such characters of strings are written as escapes: the same value, and nothing in it ends or imitates what stands around it. */
export function visibleJson(json: string): string {
  return json.replaceAll(unseen, escaped).replaceAll(mark, "\\u003c");
}

function escaped(text: string): string {
  return text
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
