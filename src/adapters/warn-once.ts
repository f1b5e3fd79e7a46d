import type { Warning } from "../journal/host.ts";
import { visible } from "../util/visible.ts";

// Register: the texts of past warnings, because an agent can be made for each request. After a number of texts nothing more is told.
const told = new Set<string>();
const mostTold = 1000;

/** Warns the author by a warning of the process, once for each text. */
export function warnOnce({ code, text, isDeprecation }: Warning): void {
  if (told.has(text) || told.size >= mostTold) return;
  told.add(text);
  process.emitWarning(visible(text), { type: isDeprecation ? "DeprecationWarning" : "WritWarning", code });
}
