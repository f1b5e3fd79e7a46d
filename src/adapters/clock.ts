import { clearImmediate, setImmediate } from "node:timers"; // those of the process, also where a test replaces the global ones
import type { Host } from "../journal/host.ts";
import { lazy } from "../util/remembered.ts";
import { nodePowers } from "./capability/node-powers.ts";
import { longestMs } from "./wait-ms.ts";
import { warnOnce } from "./warn-once.ts";

/** Loaded with the first agent: a program that only imports writ does not need it, and the first run need not wait for it. */
const crypto = lazy(() => process.getBuiltinModule("node:crypto"));

/** Loads the modules that every run needs: otherwise they would take a third of a short first run. */
export function readyForRuns(): void {
  crypto();
}

/** Lets all other work of the process have its turn first. A timer of no time would wait a millisecond. */
function soon(fire: () => void): () => void {
  const immediate = setImmediate(fire);
  return () => clearImmediate(immediate);
}

/** Runs that begin in one turn of the event loop. Those after them begin one by one, and one that waits for nothing has ended before the next begins. */
const runsAtOnce = 64;

/** Register: the runs of this turn of the event loop. */
let begun = 0;

/** The clock, timers and randomness of Node. */
export const nodeHost: Host = {
  now: () => Date.now(),
  ofRun() {
    if (this.now !== nodeHost.now) return this; // a host with another clock
    const clock = performance; // the global is a getter
    const from = Date.now() - clock.now();
    return { ...this, now: () => Math.round(from + clock.now()), day: this };
  },
  timer(afterMs, fire) {
    if (afterMs <= 0) return soon(fire);
    const timer = setTimeout(fire, Math.min(afterMs, longestMs));
    return () => clearTimeout(timer);
  },
  mayBegin() {
    if (begun === 0) setImmediate(() => (begun = 0));
    begun += 1;
    return begun <= runsAtOnce;
  },
  randomId: () => crypto().randomUUID().toLowerCase(), // the same in one piece: the pieces that Node makes it of hold eight times as much
  powers: nodePowers,
  platform: process.platform,
  warn: warnOnce,
  digest: (text) => crypto().hash("sha256", text, "hex"),
};
