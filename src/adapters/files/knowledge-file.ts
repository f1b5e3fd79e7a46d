import { string, record } from "../../util/shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { basename, extname, resolve } from "node:path";
import { WritError } from "../../error/writ-error.ts";
import { knowledge, type Knowledge } from "../../tool/knowledge.ts";
import { type FileText, readText } from "./read-text.ts";

/** Options of {@link knowledgeFile}. */
export interface KnowledgeFileOptions {
  /** Default: the file's name without its ending, with `_` for what no name may have. */
  readonly name?: string;
  /** Contents of the file in words: the model decides by them when to read it. */
  readonly description: string;
  /** The most bytes that are read; the rest is left out, and the model is told how much that is. Default 65 536. */
  readonly maxBytes?: number;
}

/** The most that is read of a file unless the author says otherwise. */
export const defaultMaxBytes = 65_536;

/**
 * Makes knowledge of a text file in UTF-8. The file is read when the model calls for it, each time anew; a call fails, and the model is told,
 * when it is not there then, or is no regular text file. A relative path counts from the folder in which the process is now.
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

/** @throws WritError `definition-invalid` for what is no number of bytes */
function checkBytes(maxBytes: number, where: string): void {
  if (Number.isSafeInteger(maxBytes) && maxBytes > 0) return;
  throw new WritError("definition-invalid", {
    where,
    reason: "`maxBytes` must be a whole number of bytes from 1 on.",
  });
}

/** The text as a model is shown it, which must know that there is more. */
export function withNote({ text, leftOutBytes }: FileText): string {
  return leftOutBytes === 0 ? text : `${text}\n[cut off here: ${leftOutBytes} more bytes were left out]`;
}

function nameOf(path: string): string {
  const stem = basename(path, extname(path)).replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return (/^[A-Za-z_]/.test(stem) ? stem : `_${stem}`).slice(0, 64);
}
