import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { inPatience } from "../journal/patience.ts";
import { type Interrupt, untilStopped } from "../util/interrupt.ts";
import type { SessionStore } from "./session-store.ts";

/** A run that wants a session for itself. */
export interface SessionVisit {
  /** A unique id of the visit. */
  readonly owner: string;
  /** The visits of the same run in processes that have lost it: a claim of theirs passes to this visit. Left out: no other process goes on with the run. */
  readonly earlier?: readonly string[] | undefined;
  /** The visits of the runs around it: waiting for one of those would be waiting for itself. */
  readonly around: readonly string[];
  readonly host: Pick<Host, "timer">;
  readonly stop: Interrupt<unknown>;
  /** Called when it has to wait, perhaps more than once. */
  readonly waits?: () => void;
  /** Left out: the behaviour that the session was given. */
  readonly whenBusy?: "refuse";
}

/** The session that a visit wants, and the behaviour while another visit has it. */
export interface Wanted {
  readonly store: SessionStore;
  readonly id: string;
  readonly whenBusy: "wait" | "refuse";
}

/** Ends a visit. The session of a run that is handed over is kept for a while, for the process that goes on with it. */
export type LeaveSession = (isHandedOver?: boolean) => Promise<void>;

interface Place {
  readonly owner: string;
  readonly begin: () => void;
}

/** Register: the visit that has a session of a store, followed by the waiting ones in order. */
const lines = new WeakMap<SessionStore, Map<string, Place[]>>();

/**
 * Waits until no other visit has the session; the returned function ends the visit. In this process the visits of a store queue up; other processes
 * are kept out by a claim, if the store has claims.
 *
 * @throws WritError `session-busy`, `session-inside`, and the errors of the store; an Error if the visit was stopped
 */
export async function enterSession(wanted: Wanted, visit: SessionVisit): Promise<LeaveSession> {
  // A run that goes on has what it had: those in line wait for its claim.
  const leave = (await hasPassed(wanted, visit)) ? () => undefined : await standInLine(wanted, visit);
  try {
    const giveBack = await claim(wanted, visit);
    return async (isHandedOver) => {
      await giveBack(isHandedOver);
      leave();
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** True if the visit got the claim of an earlier one: no other run has the session then. */
async function hasPassed({ id, store }: Wanted, visit: SessionVisit): Promise<boolean> {
  const { owner, earlier = [], stop } = visit;
  if (earlier.length === 0 || store.claims?.pass === undefined) return false;
  const passed = await untilStopped(store.claims.pass(id, earlier, owner), stop);
  if (passed === "stopped") throw stoppedWaiting();
  return passed;
}

async function standInLine(wanted: Wanted, visit: SessionVisit): Promise<() => void> {
  const { store, id } = wanted;
  const ofStore = lines.get(store) ?? new Map<string, Place[]>();
  lines.set(store, ofStore);
  const line = ofStore.get(id) ?? [];
  if (line[0] !== undefined) checkWaiting(line[0].owner, wanted, visit);
  ofStore.set(id, line);
  const { promise, resolve: begin } = Promise.withResolvers<void>();
  const place = { owner: visit.owner, begin };
  line.push(place);
  if (line.length === 1) begin();
  else visit.waits?.();
  function leave(): void {
    line.splice(line.indexOf(place), 1);
    line[0]?.begin();
    if (line.length === 0) ofStore.delete(id);
  }
  if ((await untilStopped(promise, visit.stop)) !== "stopped") return leave;
  leave();
  throw stoppedWaiting();
}

/** The milliseconds for which a process that died keeps others out. */
const claimMs = 15_000;
const renewMs = 5_000;
const pauseMs = 50;

/** Keeps visits of other processes out as long as this one goes on. */
async function claim(wanted: Wanted, visit: SessionVisit): Promise<LeaveSession> {
  const { id, store } = wanted;
  const { claims } = store;
  if (claims === undefined) return () => Promise.resolve();
  const { owner, host, stop } = visit;
  const time = { forMs: claimMs, outlives: visit.earlier !== undefined };
  const take = (): Promise<string> => untilStopped(claims.take(id, owner, time), stop);
  const giveBack: LeaveSession = async (isHandedOver = false) => {
    const releasing = isHandedOver ? claims.release(id, owner, claimMs) : claims.release(id, owner);
    await inPatience(releasing, "its session", host).catch(() => undefined); // the claim expires by itself
  };
  try {
    for (let holder = await take(); holder !== owner; holder = await take()) {
      if (holder === "stopped") throw stoppedWaiting();
      checkWaiting(holder, wanted, visit);
      visit.waits?.();
      const pause = Promise.withResolvers<void>();
      const cancel = host.timer(pauseMs, pause.resolve);
      const paused = await untilStopped(pause.promise, stop);
      cancel();
      if (paused === "stopped") throw stoppedWaiting();
    }
  } catch (error) {
    await giveBack();
    throw error;
  }
  const endRenewing = repeat(host, () => void take().catch(() => undefined)); // a lost claim is reported when the run is saved
  return (isHandedOver) => {
    endRenewing();
    return giveBack(isHandedOver);
  };
}

function repeat(host: SessionVisit["host"], work: () => void): () => void {
  let cancel = host.timer(renewMs, again);
  function again(): void {
    work();
    cancel = host.timer(renewMs, again);
  }
  return () => cancel();
}

/** @throws WritError if the visit must not wait for the one that has the session */
function checkWaiting(holder: string, { id, whenBusy }: Wanted, { around }: SessionVisit): void {
  if (around.includes(holder)) throw new WritError("session-inside", { id });
  if (whenBusy === "refuse") throw new WritError("session-busy", { id }, { retryable: true });
}

function stoppedWaiting(): Error {
  return new Error("the run was stopped while it waited for its session");
}
