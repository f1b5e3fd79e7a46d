import type { Host } from "../journal/host.ts";

/** Lets everything else of the process have its turn first. */
export function letOthers(host: Pick<Host, "timer">): Promise<void> {
  return new Promise((resolve) => void host.timer(0, resolve));
}
