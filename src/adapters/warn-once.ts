import type { Warning } from "../journal/host.ts";
import { visible } from "../util/visible.ts";

// Register: what was told, since an agent can be made for each request. Once is enough; beyond so many nothing more is told.
const told = new Set<string>();
const mostTold = 1000;

/** Tells the author something by a warning of the process, once for each text. */
export function warnOnce({ code, text, isDeprecation }: Warning): void {
  if (told.has(text) || told.size >= mostTold) return;
  told.add(text);
  process.emitWarning(visible(text), { type: isDeprecation ? "DeprecationWarning" : "WritWarning", code });
}
