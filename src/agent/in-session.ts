import { isWritError } from "../error/writ-error.ts";
import { within } from "../run/around.ts";
import { type End, endBy, isCancelled, thrownEnd } from "../run/end.ts";
import type { Host } from "../journal/host.ts";
import type { Finished } from "../run/finished.ts";
import { type Frame, letOthers } from "../run/frame.ts";
import { StepsOfRun } from "../run/steps-of-run.ts";
import { handedOver } from "../run/waits.ts";
import { effectIn } from "../policy/allow-list.ts";
import type { LeaveSession, SessionVisit } from "../session/one-at-a-time.ts";
import type { LoadedSession, SessionHandle } from "../session/session.ts";
import type { Journal } from "../journal/journal.ts";
import { inPatience } from "../journal/patience.ts";
import { startKey } from "../journal/record-form.ts";
import { fingerprint } from "../util/hash.ts";
import { interruptBy, untilStopped } from "../util/interrupt.ts";
import { type Maybe, rescue } from "../util/maybe.ts";
import type { AgentPlan } from "./plan.ts";
import type { PlannedSkill } from "./plan-skill.ts";
import type { RunFrame } from "./runnable.ts";

/** The key of the step that loads the session of a run. */
export const sessionKey = "session";

/** A run that may have a session. */
interface SessionUser {
  readonly plan: AgentPlan;
  readonly host: Host;
  readonly base: RunFrame;
}

/** A session that one run has for itself. */
export interface OpenSession {
  readonly handle: SessionHandle;
  readonly loaded: LoadedSession;
  /** Checks once, before the run changes anything, that the session has not changed meanwhile. */
  readonly beforeEffect: () => Promise<void>;
}

/** A session as a run records it, with the visit in which it was loaded. */
interface RecordedSession extends LoadedSession {
  readonly owner?: string;
}

/** The visit of a run to its session; a replay makes none. */
interface Visit {
  readonly owner?: string;
}

/** The work done in a session. */
interface InSession extends Pick<Frame, "stop"> {
  readonly key: string;
  readonly work: (session: OpenSession) => Maybe<Finished>;
}

/** Does the work of a run while it has its session to itself. A run that can do nothing more does not wait for the session. */
export function inSession(handle: SessionHandle, run: SessionUser, doing: InSession): Promise<Finished> {
  const isDone = run.base.journal.mode === "replay" && handle.keepsReplay !== true;
  return isDone ? opened(handle, run, doing) : holding(handle, run, doing);
}

/**
 * True of a run that began where no sessions were kept, and goes on, or is replayed, where they are: it was not told what was said before, and is not told in
 * its middle. A session is loaded before the beginning of a run is kept.
 */
export function beganWithout({ find }: Journal): boolean {
  return find?.(startKey) !== undefined && find(sessionKey) === undefined;
}

/**
 * True of a recorded run that begins. It lets runs that go on enter the session first, as they did in the process that left them: one that entered second would
 * find its session changed, and fail.
 */
function isNew({ find }: Journal): boolean {
  return find !== undefined && find(sessionKey) === undefined;
}

async function opened(
  handle: SessionHandle,
  run: SessionUser,
  { work, ...loading }: InSession & Visit,
): Promise<Finished> {
  return work(await loadSession(handle, run, loading));
}

async function holding(handle: SessionHandle, run: SessionUser, doing: InSession): Promise<Finished> {
  const { host } = run;
  const { journal } = run.base;
  if (isNew(journal)) await letOthers(host);
  const owner = host.randomId();
  const around = host.powers?.current();
  const held = around?.sessions ?? [];
  const earlier = visitsIn(journal, doing.key);
  // Before the claim passes to it: a process that dies in between leaves no claim that the next one does not know.
  if (earlier !== undefined && earlier.length > 0)
    await keepVisit(journal, visitKey(doing.key, earlier.length), owner);
  const leave = await entered({ handle, owner, earlier, around: held, host }, run, doing);
  const scope = { tool: run.plan.name, callId: "run", powers: [], isHandle: true, ...around };
  let isHandedOver = false;
  try {
    const finished = await within(host, { ...scope, sessions: [...held, owner] }, async () =>
      opened(handle, run, { ...doing, owner }),
    );
    const { outcome } = finished.end;
    isHandedOver = outcome.type === "suspended" && outcome.field === "handover";
    return finished;
  } finally {
    await leave(isHandedOver);
  }
}

type Entering = Omit<SessionVisit, "stop" | "whenBusy"> & { readonly handle: SessionHandle };

/** Waits for the session until the run is stopped. A run that is handed over meanwhile does not wait: nothing of it has begun. */
async function entered(
  { handle, ...visit }: Entering,
  { base: { leaving } }: SessionUser,
  { stop }: Pick<InSession, "stop">,
): Promise<LeaveSession> {
  const { stop: waiting, unlink } = interruptBy(leaving);
  const forget = stop.onStop(() => waiting.stop(stop.reason));
  try {
    return await handle.enter({ ...visit, stop: waiting });
  } catch (error) {
    throw leaving?.aborted === true && stop.reason === undefined ? handedOver() : error;
  } finally {
    forget();
    unlink();
  }
}

/** Reads the earlier conversation once: a replay uses the one that the first run got. */
async function loadSession(
  handle: SessionHandle,
  { base: { journal, runId } }: SessionUser,
  { key, stop, owner }: Omit<InSession, "work"> & Visit,
): Promise<OpenSession> {
  const load = async (): Promise<RecordedSession> => ({
    ...(await handle.load()),
    ...(owner === undefined ? {} : { owner }),
  });
  const loaded = await untilStopped(journal.step({ key, run: load }), stop);
  if (loaded === "stopped") throw new Error("the run was stopped while its session was read");
  let checking: Promise<unknown> | undefined;
  const check = async (): Promise<null> => {
    await handle.check(runId, loaded);
    return null;
  };
  const beforeEffect = async (): Promise<void> => {
    checking ??= journal.step({ key: `${key}/check`, run: check });
    if ((await untilStopped(checking, stop)) === "stopped")
      throw new Error("the run was stopped while its session was compared");
  };
  return { handle, loaded, beforeEffect };
}

const visitKey = (key: string, number: number): string => `${key}/visit/${number}`;

/** The recorded visits of a run to its session: that in which it was loaded, then one for each process that went on with the run. Undefined if no process can go on with it. */
function visitsIn({ find }: Journal, key: string): readonly string[] | undefined {
  if (find === undefined) return undefined;
  const visits: string[] = [];
  const ownerAt = (at: string): string | undefined => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this file records it
    return (find(at) as unknown as RecordedSession | undefined)?.owner;
  };
  for (let owner = ownerAt(key); owner !== undefined; owner = ownerAt(visitKey(key, visits.length)))
    visits.push(owner);
  return visits;
}

/** Records a visit of a run that goes on, for the process that goes on with it next. */
function keepVisit(journal: Journal, key: string, owner: string): Promise<void> | undefined {
  // A journal that has lost the run, or fails, says so to the next step.
  return StepsOfRun.of(journal)
    ?.keepBeside([{ key, value: { owner } }])
    .catch(() => undefined);
}

interface Keeping {
  readonly run: SessionUser;
  readonly skill: PlannedSkill;
  readonly inside: Frame;
}

/**
 * Saves a run in its session, once: a replay does not save it again. The journal first notes that the saving begins: that fails in a process that
 * has lost the run to another one, because its transcript may be outdated. Saving the same run again does nothing, so a lost beginning is harmless.
 */
export function keep(
  session: OpenSession | undefined,
  ended: Finished,
  { run, skill, inside }: Keeping,
): Maybe<Finished> {
  if (session === undefined) return ended;
  const { plan, base } = run;
  const { end, usage, transcript, ledger, acts } = ended;
  const intent = inside.intent?.hash;
  const about = { runId: base.runId, agent: plan.name, skill: skill.name, outcome: end.outcome, usage };
  const effectOf = skill.type === "plain" ? undefined : effectIn(skill.gate.allowed);
  const finished = { ...about, ...(intent === undefined ? {} : { intent }), transcript, acts, effectOf };
  const print = printOf(ended);
  const unsaved: { end?: End } = {};
  const saving = async (): Promise<string | null> => {
    const saved = session.handle.save(finished, session.loaded);
    const inTime = inside.stop.reason === undefined ? saved : inPatience(saved, "its session", run.host);
    await inTime.catch((error: unknown) => {
      if (isWritError(error, "session-missing") && isCancelled(inside.stop.reason)) return; // it was deleted, and no later run is to know
      unsaved.end = thrownEnd(error, plan.name);
      throw error;
    });
    return print;
  };
  const told = async (): Promise<Finished> => {
    const key = keyOfSave(base.journal, `session/save/${ledger.turns}`, print);
    const step = { key, run: saving, lost: saving };
    const doing = session.handle.keepsReplay === true ? saving() : base.journal.step(step);
    const keeping = doing.catch((error: unknown) => {
      if (isWritError(error, "run-ended")) return saving(); // the run was cancelled, and nobody else has it: its session is still told what it did
      throw error;
    });
    // A stopped run is saved too.
    const kept = inside.stop.reason === undefined ? await untilStopped(keeping, inside.stop) : await keeping;
    if (kept === "stopped") throw new Error("the run was stopped while it was kept in its session");
    return ended;
  };
  const { stop } = inside;
  return rescue(told, (error) => ({
    ...ended,
    end: unsaved.end ?? endBy(error, { gate: { agent: plan.name }, stop }),
  }));
}

/** The fingerprint of an end in the record that it was saved. An answer is saved for good, and needs none. */
function printOf({ end: { outcome }, usage, transcript, acts }: Finished): string | null {
  if (outcome.type === "answered") return null;
  return fingerprint(JSON.stringify([outcome, usage, transcript.messages, acts]));
}

/**
 * The key under which an end is saved. A run that failed and goes on at the same turn, in another process or because it is retried, comes to
 * another end: that is saved under a later key, and replaces the first one in the session.
 */
function keyOfSave({ find, mode }: Journal, first: string, print: string | null): string {
  let [key, next] = [first, first];
  for (let count = 2; find?.(next) !== undefined; count += 1) [key, next] = [next, `${first}/${count}`];
  const known = find?.(key);
  return mode === "replay" || known === null || known === print ? key : next;
}
