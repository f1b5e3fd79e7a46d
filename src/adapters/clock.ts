import type { Host, Warning } from "../journal/host.ts";
import { lazy } from "../util/remembered.ts";
import { visible } from "../util/visible.ts";
import { nodePowers } from "./capability/node-powers.ts";

/** Loaded with the first id or hash: a program that only imports writ needs none. */
const crypto = lazy(() => process.getBuiltinModule("node:crypto"));

/** The longest time a timer of Node can wait; a longer one would fire at once. */
const longestTimerMs = 2_147_483_647;

// Register: what was told, since an agent can be made for each request. Once is enough; beyond so many nothing more is told.
const told = new Set<string>();
const mostTold = 1000;

function warnOnce({ code, text, isDeprecation }: Warning): void {
  if (told.has(text) || told.size >= mostTold) return;
  told.add(text);
  process.emitWarning(visible(text), { type: isDeprecation ? "DeprecationWarning" : "WritWarning", code });
}

/** The clock, timers and randomness of Node. */
export const nodeHost: Host = {
  now: () => Date.now(),
  timer(afterMs, fire) {
    const timer = setTimeout(fire, Math.min(afterMs, longestTimerMs));
    return () => clearTimeout(timer);
  },
  randomId: () => crypto().randomUUID(),
  powers: nodePowers,
  platform: process.platform,
  warn: warnOnce,
  digest: (text) => crypto().hash("sha256", text, "hex"),
};
