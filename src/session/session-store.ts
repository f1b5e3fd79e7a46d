import { WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import type { Label } from "../message/label.ts";
import type { Message } from "../message/message.ts";
import { readTranscript } from "../message/read-transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { Act } from "../tool/acts.ts";

/** A run as a session keeps it: its own messages, without earlier ones and without the system message. */
export interface SessionRun {
  readonly runId: string;
  readonly agent: string;
  readonly skill: string;
  readonly outcome: Outcome;
  readonly usage: Usage;
  /** The hash of the run's intent. */
  readonly intent?: string;
  readonly messages: readonly Message[];
  /** Its calls that may have changed something. For a run that was stored without them, those in its messages. */
  readonly acts?: readonly Act[];
}

/** The contents of a session, as JSON. */
export interface SessionContents {
  /** The messages before the first run, without a system message. */
  readonly messages: readonly Message[];
  readonly runs: readonly SessionRun[];
  /** A summary of everything before the messages. */
  readonly summary?: string;
  /** The label of the summary; left out if its sources are only the user and the author. */
  readonly summaryLabel?: Label;
  /** The session that this one was forked from, and its version at that time. */
  readonly forkedFrom?: { readonly id: string; readonly version: number };
}

/** A session as it is stored. Its version is 0 when it is begun, and grows by one with every change. */
export interface SessionRecord extends SessionContents {
  readonly id: string;
  readonly version: number;
}

/**
 * A store of sessions. Any text is an id. A change names the version that it was made from, and is refused if
 * the session has another one: of two writers at the same time, one gets an error. Arguments and results are
 * copies.
 */
export interface SessionStore {
  /**
   * Begins a session, or copies one: `create(id, await other.read(id))` keeps the version, so that a run that was moved finds the session that it knows.
   *
   * @throws WritError `session-exists`, `transcript-invalid`
   */
  create(id: string, contents?: Partial<Omit<SessionRecord, "id">>): Promise<SessionRecord>;
  /**
   * Reads a session. With `only`, no more runs than its last ones, or those with one id, are wanted: a store that reads just these makes a message of a long
   * session as cheap as one of a short session. A store may give all.
   *
   * @throws WritError `session-missing`
   */
  read(id: string, only?: { readonly lastRuns: number } | { readonly runId: string }): Promise<SessionRecord>;
  /**
   * Adds a run after all others, and returns the new version. A run with the same id is removed: a run that was suspended and went on is one run.
   *
   * @throws WritError `session-missing`, `session-conflict`, `transcript-invalid`
   */
  append(id: string, run: SessionRun, expectedVersion: number): Promise<number>;
  /**
   * Replaces the contents, and returns the new version.
   *
   * @throws WritError `session-missing`, `session-conflict`, `transcript-invalid`
   */
  update(id: string, contents: SessionContents, expectedVersion: number): Promise<number>;
  /** @throws WritError `session-missing` */
  delete(id: string): Promise<void>;
  /** The ids, in the order in which the sessions were created. */
  list(): Promise<readonly string[]>;
  /** Left out: runs of several processes may use a session at once. The version is then compared before the first call with an effect. */
  readonly claims?: SessionClaims;
}

/** The time of a claim on a session. */
export interface SessionClaim {
  readonly forMs: number;
  /** True for a run that another process can go on with: the claim holds for its time, so that no later run comes in between. */
  readonly outlives?: boolean;
}

/** Claims on sessions: of two runs in two processes, one waits before it does anything. */
export interface SessionClaims {
  /**
   * Gives the session to an owner if nobody has it, or extends the claim if the owner has it already, and returns its current owner. The session
   * need not exist yet. It is free `forMs` after its owner's last call: a process that died keeps nobody out. A store that knows that the owner's process
   * is dead frees the session earlier, unless the claim `outlives` it. A store that dies with its process may keep the claim until it is released.
   */
  take(id: string, owner: string, claim: SessionClaim): Promise<string>;
  /**
   * Gives the session to an owner, for as long as it is claimed anyway, if one of the others has it; true if so. Left out: the claim of a process that died
   * holds for its time, also against the process that goes on with its run.
   */
  pass?(id: string, from: readonly string[], owner: string): Promise<boolean>;
  /** Frees the session, if this owner has it; with `afterMs`, after that time, in which it can pass to another process. */
  release(id: string, owner: string, afterMs?: number): Promise<void>;
}

/** A session as stores keep it: in pieces of JSON text, so that another run does not mean rewriting all of them. */
export interface StoredSession {
  readonly version: number;
  /** The contents without the runs. */
  readonly head: string;
  readonly runs: readonly string[];
}

/** @throws WritError `transcript-invalid` */
export function headText({
  messages = [],
  summary,
  summaryLabel,
  forkedFrom,
}: Partial<SessionContents>): string {
  checkMessages(messages);
  return JSON.stringify({ messages, summary, summaryLabel, forkedFrom });
}

/** @throws WritError `transcript-invalid` */
export function runText({ runId, agent, skill, outcome, usage, intent, messages, acts }: SessionRun): string {
  checkMessages(messages);
  return JSON.stringify({ runId, agent, skill, outcome, usage, intent, messages, acts });
}

/** The record made from what a store kept. */
export function recordOf(id: string, { version, head, runs }: StoredSession): SessionRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- headText wrote it
  const rest = JSON.parse(head) as Omit<SessionContents, "runs">;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- runText wrote it
  return { id, version, ...rest, runs: runs.map((run) => JSON.parse(run) as SessionRun) };
}

/** @throws WritError `session-missing` */
export function missing(id: string): WritError<"session-missing"> {
  return new WritError("session-missing", { id });
}

/** @throws WritError `session-conflict` */
export function checkVersion(id: string, found: number, expected: number): void {
  if (found !== expected) throw new WritError("session-conflict", { id, expected, found });
}

/** Checks messages before they are stored: every call has its result, and there is no system message, which each run has itself. */
function checkMessages(messages: readonly Message[]): void {
  const { state } = readTranscript({ messages });
  const system = messages.findIndex(({ role }) => role === "system");
  const index = state === "open" ? messages.length - 1 : system;
  if (index === -1) return;
  const reason =
    state === "open" ? "has calls without a result" : "is a system message, which each run brings itself";
  throw new WritError("transcript-invalid", { index, reason });
}
