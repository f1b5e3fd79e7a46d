import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { WritError } from "../../error/writ-error.ts";
import { decoded, reasonOf } from "./read-text.ts";

/** Longer instructions are a mistake in the path, not a prompt. */
const maxBytes = 1_048_576;

/**
 * Instructions from a text file in UTF-8, of at most 1 MiB. The file is read at once, so that one which is missing or empty is an error where
 * the agent is defined, and never in a run. A relative path counts from the folder in which the process is now; a URL like
 * `new URL("coder.md", import.meta.url)` from the module.
 *
 * @throws WritError `file-unreadable`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { promptFile } from "writ/files";
 *
 * export const coder = () =>
 *   agent({ name: "coder", model: "ollama/qwen2.5:7b", instructions: promptFile("prompts/coder.md") });
 * ```
 */
export function promptFile(path: string | URL): string {
  try {
    const text = decoded(readRegular(typeof path === "string" ? path : fileURLToPath(path))).trim();
    if (text === "") throw new TypeError("it is empty");
    return text;
  } catch (cause) {
    throw new WritError("file-unreadable", { path: String(path), reason: reasonOf(cause) }, { cause });
  }
}

/** A pipe or a device is refused before it is opened, and one that takes the file's place after that does not hold up the process. */
function readRegular(path: string): Uint8Array {
  if (!statSync(path).isFile()) throw new TypeError("it is no regular file");
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const about = fstatSync(file);
    if (!about.isFile()) throw new TypeError("it is no regular file");
    if (about.size > maxBytes) throw new TypeError(`it is larger than ${maxBytes} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
