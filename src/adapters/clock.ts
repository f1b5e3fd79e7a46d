import { hash, randomUUID } from "node:crypto";
import type { Host } from "../journal/host.ts";
import { nodePowers } from "./capability/node-powers.ts";

/** The longest time a timer of Node can wait; a longer one would fire at once. */
const longestTimerMs = 2_147_483_647;

/** The clock, timers and randomness of Node. */
export const nodeHost: Host = {
  now: () => Date.now(),
  timer(afterMs, fire) {
    const timer = setTimeout(fire, Math.min(afterMs, longestTimerMs));
    return () => clearTimeout(timer);
  },
  randomId: () => randomUUID(),
  powers: nodePowers,
  platform: process.platform,
  digest: (text) => hash("sha256", text, "hex"),
};
