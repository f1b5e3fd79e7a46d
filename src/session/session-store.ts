import { WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import type { Label } from "../message/label.ts";
import type { Message } from "../message/message.ts";
import { readTranscript } from "../message/read-transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { Act } from "../tool/acts.ts";

/** A run as a session keeps it: its own messages, without what was said before it and without the system message. */
export interface SessionRun {
  readonly runId: string;
  readonly agent: string;
  readonly skill: string;
  readonly outcome: Outcome;
  readonly usage: Usage;
  /** The hash of what the run was for. */
  readonly intent?: string;
  readonly messages: readonly Message[];
  /** Its calls that may have changed something. A run that was stored without them has those of its messages. */
  readonly acts?: readonly Act[];
}

/** The contents of a session. JSON. */
export interface SessionContents {
  /** The messages before the first run; no system message. */
  readonly messages: readonly Message[];
  readonly runs: readonly SessionRun[];
  /** The words before all of that, in short. */
  readonly summary?: string;
  /** The label of the summary; left out where it is from the user and the author alone. */
  readonly summaryLabel?: Label;
  /** The session that this one began as, and its version then. */
  readonly forkedFrom?: { readonly id: string; readonly version: number };
}

/** A session as it is stored. Its version is 0 when it is created, and one more with every change. */
export interface SessionRecord extends SessionContents {
  readonly id: string;
  readonly version: number;
}

/**
 * A store of sessions. Any text is an id. A change says which version it was made from, and is refused when
 * the session has another one: of two that write at once, one is told. What is given and what is got are
 * copies.
 */
export interface SessionStore {
  /** @throws WritError `session-exists`, `transcript-invalid` */
  create(id: string, contents?: Partial<SessionContents>): Promise<SessionRecord>;
  /** @throws WritError `session-missing` */
  read(id: string): Promise<SessionRecord>;
  /**
   * Adds a run behind all that are there, and gives the new version. One of the same id goes: a run that was suspended and went on is one run.
   *
   * @throws WritError `session-missing`, `session-conflict`, `transcript-invalid`
   */
  append(id: string, run: SessionRun, expectedVersion: number): Promise<number>;
  /**
   * Replaces the contents, and gives the new version.
   *
   * @throws WritError `session-missing`, `session-conflict`, `transcript-invalid`
   */
  update(id: string, contents: SessionContents, expectedVersion: number): Promise<number>;
  /** @throws WritError `session-missing` */
  delete(id: string): Promise<void>;
  /** The ids, in the order in which the sessions were created. */
  list(): Promise<readonly string[]>;
  /** Left out: runs of several processes are not kept from using a session at once. The version is compared before the first call with an effect. */
  readonly claims?: SessionClaims;
}

/** Claims on sessions: of two runs in two processes one waits before it does anything. */
export interface SessionClaims {
  /**
   * Gives the session to an owner if nobody has it, or for longer if the owner has it already, and says who has it now. There need not be such a
   * session yet. After `forMs` without another word of its owner it is free: a process that died keeps nobody out. A store that dies with its
   * process may keep it until it is released.
   */
  take(id: string, owner: string, forMs: number): Promise<string>;
  /** Frees the session, if this owner has it. */
  release(id: string, owner: string): Promise<void>;
}

/** A session as stores keep it: in pieces of JSON text, so that a run more does not mean to write all of them again. */
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

/** The record of what a store kept. */
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

/** Messages that no provider would take are not stored: every call has its result, and the system message is each run's own. */
function checkMessages(messages: readonly Message[]): void {
  const { state } = readTranscript({ messages });
  const system = messages.findIndex(({ role }) => role === "system");
  const index = state === "open" ? messages.length - 1 : system;
  if (index === -1) return;
  const reason =
    state === "open" ? "has calls without a result" : "is a system message, which each run brings itself";
  throw new WritError("transcript-invalid", { index, reason });
}
