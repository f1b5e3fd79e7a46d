import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { WritError } from "../../error/writ-error.ts";
import { decoded } from "../../util/media.ts";
import { reasonOf } from "./read-text.ts";

/** The most bytes of instructions: a larger file is probably a wrong path. */
const maxBytes = 1_048_576;

/**
 * Reads instructions from a text file in UTF-8, of at most 1 MiB. The file is read at once, so a missing or empty file is an error at the
 * definition of the agent, and never in a run. A relative path is relative to the current folder of the process; a URL like
 * `new URL("coder.md", import.meta.url)` to the module.
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

/** Reads a regular file. A pipe or a device is refused before it is opened, and one that replaces the file after that does not block the process. */
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
