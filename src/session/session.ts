import { checkCount, checkShape, closed, checkArguments, fromOne } from "../error/check-shape.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { isPlain } from "../message/label.ts";
import { labelOfAll, type Message, sinceAsked } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import { actsIn, type Act, type EffectOf } from "../tool/acts.ts";
import {
  anything,
  object,
  oneOf,
  callable,
  either,
  filled,
  having,
  optional,
  shapeOf,
  record,
  string,
} from "../util/shape.ts";
import { type History, historyOf } from "./history.ts";
import { enterSession, type LeaveSession, type SessionVisit } from "./one-at-a-time.ts";
import {
  checkVersion,
  runText,
  type SessionRecord,
  type SessionRun,
  type SessionStore,
} from "./session-store.ts";
import { type Summarise, summaryOf } from "./summary.ts";

const storeShape = having("a store of sessions", "read");

/** A session as a run gets it, in `agent.run(input, { session })`. */
export interface SessionHandle {
  readonly id: string;
  /** True if a replayed run is saved too: it was ended when nobody carried it out. */
  readonly keepsReplay?: true;
  /**
   * Waits until no other run uses the session, and keeps others out until the returned function is called.
   *
   * @throws WritError `session-busy` if runs do not wait, `session-inside` for a run inside one that uses it, and the errors of the store
   */
  enter(visit: SessionVisit): Promise<LeaveSession>;
  /**
   * The messages before the run. Creates the session if there is none.
   *
   * @throws WritError the errors of the store
   */
  load(): Promise<LoadedSession>;
  /**
   * Checks the session before a run changes anything.
   *
   * @throws WritError `session-conflict` if the session was changed since the run loaded it, but not by this run; `session-missing`
   */
  check(runId: string, loaded: Pick<LoadedSession, "version">): Promise<void>;
  /**
   * Saves a run after the earlier ones. Saving the same run again does nothing. Runs that were saved meanwhile stay before it: a run that has done
   * something is not lost.
   *
   * @throws WritError `session-conflict` if a run with the same id gave another answer; `session-missing`
   */
  save(run: FinishedRun, loaded: Pick<LoadedSession, "version">): Promise<void>;
  /** Deletes the session. Returns whether there was one. A server needs it, for those who want their conversation deleted. @throws WritError the errors of the store */
  erase?: (() => Promise<boolean>) | undefined;
}

/** A session as a run gets it. JSON, so that a journal can keep it. */
export interface LoadedSession {
  readonly version: number;
  /** The messages between the system message and the new question of the user. */
  readonly messages: readonly Message[];
  /** The hash of the intent of the last run. */
  readonly intent?: string;
}

/** A run that ended, as its session gets it. */
export interface FinishedRun extends Omit<SessionRun, "messages"> {
  /** The whole transcript, including earlier messages, of which the session keeps nothing twice. */
  readonly transcript: ReadyTranscript;
  /** Calls that may have changed something and that the transcript no longer has. */
  readonly acts?: readonly Act[];
  /** The effects of its tools. Left out: unknown, and any call may have changed something. */
  readonly effectOf?: EffectOf;
}

/** Options of {@link session}. */
export interface SessionOptions {
  /** The part of the earlier runs that a run is sent. Default `answers`: without calls and results. */
  readonly history?: History;
  /**
   * The number of last runs that a run is sent, of which the store reads no others. Default: all. It goes with `answers` and `all`: a function chooses itself,
   * and is given the whole session.
   */
  readonly lastRuns?: number;
  /** The behaviour while another run uses the session: `wait` for its turn (default), or `refuse` with `session-busy` before the run does anything. */
  readonly whenBusy?: "wait" | "refuse";
}

/**
 * Names a session of a store, for runs. A run that gets it is sent the messages of earlier runs, and is saved with them, however it ends.
 * Runs of one session go one after another, in the order of their arrival: a waiting run does nothing yet, and its signal or its time ends the waiting.
 *
 * @throws WritError `definition-invalid` for a value that is not a store, an id that is not text, and unknown options
 * @example
 * ```ts
 * import { agent, inMemorySessions, session } from "writ";
 *
 * const store = inMemorySessions();
 * const talker = agent({ name: "talker", model: "ollama/qwen2.5:7b" });
 * await talker.run("My name is Kim.", { session: session(store, "kim") });
 * const { text } = await talker.run("What is my name?", { session: session(store, "kim") });
 * console.log(text, (await store.read("kim")).version);
 * ```
 */
export function session(store: SessionStore, id: string, options: SessionOptions = {}): SessionHandle {
  checkShape("session()", { store, id }, handleShape);
  checkShape(`Session "${id}"`, options, optionsShape);
  const { history = "answers", lastRuns, whenBusy = "wait" } = options;
  if (lastRuns !== undefined && typeof history === "function")
    throw new WritError("definition-invalid", { where: `Session "${id}"`, reason: boundsFunction });
  return {
    id,
    enter: (visit) => enterSession({ store, id, whenBusy: visit.whenBusy ?? whenBusy }, visit),
    async check(runId, { version }) {
      const found = await store.read(id, { runId });
      const own = found.runs.find((run) => run.runId === runId);
      if (own === undefined || isConflict(own)) checkVersion(id, found.version, version);
    },
    async load() {
      const record = await readOrCreate(store, id, lastRuns);
      const intent = record.runs.at(-1)?.intent;
      const messages = historyOf(record, history);
      return { version: record.version, messages, ...(intent === undefined ? {} : { intent }) };
    },
    async save({ transcript, acts = [], effectOf = () => "undeclared", ...run }, { version }) {
      const messages = sinceAsked(transcript.messages);
      const kept = { ...run, messages, acts: [...acts, ...actsIn(messages, effectOf)] };
      await appendLast(store, id, { kept, version });
    },
    async erase() {
      try {
        await store.delete(id);
        return true;
      } catch (error) {
        if (isWritError(error, "session-missing")) return false;
        throw error;
      }
    },
  };
}

const boundsFunction =
  "`lastRuns` goes with the history `answers` or `all`: a function is given the whole session, and chooses itself. Leave one of the two out.";

/** True of a run that failed because its session had changed. Trying it again does not tell its model what was done meanwhile. */
function isConflict({ outcome }: Pick<SessionRun, "outcome">): boolean {
  return outcome.type === "failed" && outcome.code === "session-conflict";
}

const handleShape = object({
  store: having("a store of sessions, like inMemorySessions()", "read", "append"),
  id: shapeOf("the id of a session, a text", (value) => typeof value === "string" && value !== ""),
});
const optionsShape = closed({
  history: optional(either(oneOf("answers", "all"), callable)),
  lastRuns: optional(fromOne),
  whenBusy: optional(oneOf("wait", "refuse")),
});

/** The place at which a session is forked. */
export interface ForkOptions {
  /** The id of the new session. */
  readonly newId: string;
  /** The number of first runs that the new session begins with. Default: all. */
  readonly atRun?: number;
}

const forkShape = closed({ newId: filled, atRun: anything });

/**
 * Begins a new session as a copy of another one, or of its state after some of its runs. After that the two are independent.
 *
 * @throws WritError `session-missing`, `session-exists`, and `session-run-missing` if there are fewer runs than `atRun`
 * @example
 * ```ts
 * import { inMemorySessions } from "writ";
 * import { forkSession } from "writ/session";
 *
 * const store = inMemorySessions();
 * await store.create("talk");
 * const { forkedFrom } = await forkSession(store, "talk", { newId: "another end", atRun: 0 });
 * ```
 */
export async function forkSession(
  store: SessionStore,
  id: string,
  options: ForkOptions,
): Promise<SessionRecord> {
  checkArguments(
    "forkSession()",
    { store, id, options },
    { store: storeShape, id: string, options: forkShape },
  );
  const { newId, atRun } = options;
  const { version, messages, runs, summary, summaryLabel } = await store.read(id);
  const count = atRun ?? runs.length;
  if (!Number.isSafeInteger(count) || count < 0 || count > runs.length)
    throw new WritError("session-run-missing", { id, count: runs.length, wanted: count });
  const forkedFrom = { id, version };
  return store.create(newId, { messages, runs: runs.slice(0, count), summary, summaryLabel, forkedFrom });
}

/** Options of {@link summariseSession}. */
export interface SummariseOptions {
  /** The number of last runs that stay as they are. */
  readonly keepRuns: number;
  /** Gets the questions and answers of the other runs, after the earlier messages and summary. */
  readonly summarise: Summarise;
}

/**
 * Replaces all but the last runs of a session, in the store, with a summary. Does nothing if it has no other runs.
 *
 * @throws WritError `session-missing`, `summary-failed`, `definition-invalid`, and `session-conflict` if a run was saved meanwhile
 * @example
 * ```ts
 * import { agent, inMemorySessions } from "writ";
 * import { summariseSession } from "writ/session";
 *
 * const writer = agent({ name: "writer", instructions: "Say in short what was said.", model: "ollama/qwen2.5:7b" });
 * const store = inMemorySessions();
 * await store.create("talk");
 * const intent = "Sum up what was said"; // the messages hold the words of others than the user
 * await summariseSession(store, "talk", { keepRuns: 10, summarise: (messages) => writer(JSON.stringify(messages), { intent }) });
 * ```
 */
export async function summariseSession(
  store: SessionStore,
  id: string,
  options: SummariseOptions,
): Promise<void> {
  checkArguments(
    "summariseSession()",
    { store, id, options },
    { store: storeShape, id: string, options: record },
  );
  const { keepRuns, summarise } = options;
  checkCount(keepRuns, "`keepRuns`");
  const known = await store.read(id);
  const old = known.runs.slice(0, -keepRuns);
  if (old.length === 0) return;
  const said = historyOf({ ...known, runs: old }, "answers");
  const summary = await summaryOf(said, summarise);
  const label = labelOfAll(said);
  const summaryLabel = isPlain(label) ? undefined : label;
  const runs = known.runs.slice(-keepRuns);
  await store.update(id, { ...known, messages: [], runs, summary, summaryLabel }, known.version);
}

async function readOrCreate(store: SessionStore, id: string, lastRuns?: number): Promise<SessionRecord> {
  const read = async (): Promise<SessionRecord> => {
    if (lastRuns === undefined) return store.read(id);
    const record = await store.read(id, { lastRuns });
    return { ...record, runs: record.runs.slice(-lastRuns) };
  };
  try {
    return await read();
  } catch (error) {
    if (!isWritError(error, "session-missing")) throw error;
  }
  try {
    return await store.create(id);
  } catch (error) {
    if (isWritError(error, "session-exists")) return read(); // another process created it first
    throw error;
  }
}

interface Keeping {
  readonly kept: SessionRun;
  readonly version: number;
}

/**
 * Adds a run after all others, including those that came after its own version. A run that is replayed after a crash is there already; one that
 * failed and was retried is there once, at the place of its last end.
 */
async function appendLast(store: SessionStore, id: string, { kept, version }: Keeping): Promise<void> {
  try {
    await store.append(id, kept, version);
  } catch (error) {
    if (!isWritError(error, "session-conflict")) throw error;
    const found = await store.read(id, { runId: kept.runId });
    const same = found.runs.findLast(({ runId }) => runId === kept.runId);
    if (same !== undefined && runText(same) === runText(kept)) return;
    if (same?.outcome.type === "answered" || found.version === version) throw error;
    await appendLast(store, id, { kept, version: found.version });
  }
}
