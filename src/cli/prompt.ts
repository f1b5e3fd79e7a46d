import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { WritError } from "../error/writ-error.ts";

/**
 * The prompt: the words of the command line; or, without any or with `-` alone, all of the standard input. A terminal is only read when
 * asked for with `-`.
 *
 * @throws WritError `prompt-missing` when there is none, unless it `isOptional`: then it is empty.
 */
export async function readPrompt(
  words: readonly string[],
  input: Readable & { readonly isTTY?: boolean },
  { isOptional = false }: { readonly isOptional?: boolean } = {},
): Promise<string> {
  const wantsInput = words.length === 1 && words[0] === "-";
  const prompt =
    wantsInput || (words.length === 0 && input.isTTY !== true) ? await text(input) : words.join(" ");
  if (prompt.trim() === "" && !isOptional) throw new WritError("prompt-missing", {});
  return prompt.replace(/\r?\n$/, "");
}
