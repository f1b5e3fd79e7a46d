import { string, record } from "../../util/shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { basename, extname, resolve } from "node:path";
import { WritError } from "../../error/writ-error.ts";
import { knowledge, type Knowledge } from "../../tool/knowledge.ts";
import { type FileText, readText } from "./read-text.ts";

/** Options of {@link knowledgeFile}. */
export interface KnowledgeFileOptions {
  /** The name. Default: the file's name without its ending, with `_` for characters that a name may not have. */
  readonly name?: string;
  /** A description of the file's contents, by which the model decides when to read it. */
  readonly description: string;
  /** The most bytes that are read; the rest is left out, and the model is told how much that is. Default 65 536. */
  readonly maxBytes?: number;
}

/** The most bytes that are read from a file unless the author sets another number. */
export const defaultMaxBytes = 65_536;

/**
 * Makes knowledge of a text file in UTF-8. The file is read at each call of the model; a call fails, and the model is told so,
 * if the file is missing then, or is not a regular text file. A relative path is relative to the current folder of the process.
 *
 * @throws WritError `name-invalid`, `definition-invalid`; a call: `file-unreadable`
 * @example
 * ```ts
 * import { agent, skill } from "writ";
 * import { knowledgeFile } from "writ/files";
 *
 * const faq = knowledgeFile("docs/faq.md", { description: "Answers to frequent questions" });
 *
 * export const support = agent({
 *   name: "support",
 *   model: "ollama/qwen2.5:7b",
 *   skills: [skill({ name: "answer", description: "Answers customers", tools: [], knowledge: [faq] })],
 * });
 * ```
 */
export function knowledgeFile(path: string, options: KnowledgeFileOptions): Knowledge {
  checkArguments("knowledgeFile()", { path, options }, { path: string, options: record });
  const { name = nameOf(path), description, maxBytes = defaultMaxBytes } = options;
  checkBytes(maxBytes, `Knowledge "${name}"`);
  const place = resolve(path);
  return knowledge({
    name,
    description,
    load: async ({ signal }) => withNote(await readText(place, { maxBytes, shown: path, signal })),
  });
}

/** @throws WritError `definition-invalid` for a value that is not a number of bytes */
function checkBytes(maxBytes: number, where: string): void {
  if (Number.isSafeInteger(maxBytes) && maxBytes > 0) return;
  throw new WritError("definition-invalid", {
    where,
    reason: "`maxBytes` must be a whole number of bytes from 1 on.",
  });
}

/** The text for a model, with a note if there is more. */
export function withNote({ text, leftOutBytes }: FileText): string {
  return leftOutBytes === 0 ? text : `${text}\n[cut off here: ${leftOutBytes} more bytes were left out]`;
}

function nameOf(path: string): string {
  const stem = basename(path, extname(path)).replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return (/^[A-Za-z_]/.test(stem) ? stem : `_${stem}`).slice(0, 64);
}
