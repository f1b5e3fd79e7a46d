import type { Host } from "../journal/host.ts";
import type { SessionHandle } from "../session/session.ts";
import { interrupt } from "../util/interrupt.ts";

/** A session whose conversation and runs are both to go. */
export interface Forgetting {
  readonly handle: SessionHandle;
  readonly eraseRuns: () => Promise<number>;
  readonly host: Host;
}

/** The number of runs that were erased, and whether there was a conversation. */
export interface Forgotten {
  readonly count: number;
  readonly wasKept: boolean;
}

/**
 * Erases a session and its runs while no run has the session: one that begins meanwhile waits, and begins a new conversation.
 *
 * @throws WritError `session-busy` or `run-claimed` while a run is at work: everything stays then
 */
export async function forgetSession({ handle, eraseRuns, host }: Forgetting): Promise<Forgotten> {
  const visit = { owner: host.randomId(), around: [], host, stop: interrupt<never>() };
  const leave = await handle.enter({ ...visit, whenBusy: "refuse" });
  try {
    const count = await eraseRuns(); // first: a run at work keeps its session
    return { count, wasKept: (await handle.erase?.()) === true };
  } finally {
    await leave();
  }
}
