import type { Outcome } from "../event/outcome.ts";
import type { Journal } from "../journal/journal.ts";
import type { JournalRecord, KeptQuestion } from "../journal/recorded-journal.ts";
import type { Usage } from "../message/usage.ts";
import type { Approval } from "../run/approval.ts";
import type { OpenQuestion } from "../run/waits.ts";
import type { Settlement } from "../tool/after-crash.ts";
import type { Json, JsonObject } from "../util/json.ts";

/** A run as it is begun. */
export interface NewRun {
  readonly id: string;
  /** The name of the agent that carries it out. */
  readonly agent: string;
  readonly input: Json;
  readonly options: JsonObject;
  readonly session?: string;
  /** The version of the form in which its steps are recorded. */
  readonly protocol: number;
  /** Present if it was made from another run. */
  readonly fork?: ForkOrigin;
}

/** The run from which a fork was made, and the changes of the fork. */
export interface ForkOrigin {
  readonly run: string;
  readonly beforeTurn: number;
  readonly instructions?: string;
  readonly model?: string;
  /** The tools that run again. */
  readonly again?: readonly string[];
}

/**
 * The state of a stored run. `ready`: any process may go on with it, even if the process that had it died. `running`: a live process has it. `waiting`: it
 * goes on when somebody answers. `moved`: it is in another store now. All others are the type of its outcome.
 */
export type RunStatus = "ready" | "running" | "waiting" | "moved" | Outcome["type"];

/** Each status once. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `satisfies` holds the keys to the statuses
export const runStatuses = Object.keys({
  ready: true,
  running: true,
  waiting: true,
  moved: true,
  answered: true,
  failed: true,
  cancelled: true,
  refused: true,
  exhausted: true,
  suspended: true,
} satisfies Record<RunStatus, true>) as readonly RunStatus[];

/** The states of runs that have not ended. */
export const openStatuses: readonly RunStatus[] = ["waiting", "ready", "running"];

/** The end of a stored run. */
export interface RunEnd {
  readonly outcome: Outcome;
  /** Present if it answered: the output, as far as JSON can hold it. */
  readonly output?: Json;
  /** Left out, like `turns`, for a run that was cancelled in the store: its records say what it used. */
  readonly usage?: Usage;
  readonly turns?: number;
}

/** A run as it is stored. Times are in milliseconds since 1970. */
export interface StoredRun extends NewRun {
  readonly status: RunStatus;
  readonly begunAt: number;
  /** Present, like `end`, once it has ended. */
  readonly endedAt?: number;
  readonly end?: RunEnd;
  /** The number of times that it was moved to another store. Left out before the first move. */
  readonly moves?: number;
}

/** A run as its caller sees it through a server: under the id that the caller gave it. */
export type ShownRun = Omit<StoredRun, "options" | "protocol">;

/** A run on its way from one store to another, with everything that belongs to it. */
export interface MovedRun {
  /** The run as it goes on: `ready`, or ended. */
  readonly run: StoredRun;
  readonly records: readonly JournalRecord[];
  readonly questions: readonly MovedQuestion[];
}

/** A question on its way. */
export interface MovedQuestion
  extends Omit<WaitingQuestion, "runId" | "agent">, Pick<KeptQuestion, "fingerprint"> {
  /** The JSON text of the answer that counts when its time is over. */
  readonly last?: string;
}

/** A question of a run, kept until somebody answers it. */
export interface WaitingQuestion extends OpenQuestion {
  readonly runId: string;
  /** The agent of its run. A store of the author's own may leave it out. */
  readonly agent?: string;
  /** The time at which it was first asked, in milliseconds since 1970. */
  readonly since: number;
  /** The time at which the answer becomes no. Left out if the question stands until it is answered. */
  readonly until?: number;
  /** The people who may answer. Left out if anybody may. */
  readonly by?: readonly string[];
}

/** An answer to a question. */
export interface QuestionAnswer extends Approval {
  /** The hash of the request that was shown: an answer about another call is refused. */
  readonly hash: string;
  /** The person who answers, kept with the answer. The caller vouches for the name. Required if the question names who may answer. */
  readonly by?: string;
  /** The `policy` of the request that was shown: an answer to a question of another policy is refused. Default: not compared. */
  readonly policy?: string;
  /** The settlement, in place of the rest, for a question whether a call happened. */
  readonly settled?: Settlement;
}

/** A signal to a run. */
export interface RunSignal {
  readonly name: string;
  readonly value: Json;
  /** The id of the signal: a second signal with the same id changes nothing. */
  readonly id: string;
}

/** The wanted runs, latest first. A run must match every given field. */
export interface RunFilter {
  readonly status?: RunStatus;
  readonly agent?: string;
  readonly session?: string;
  /** Only runs whose id begins with this text. */
  readonly prefix?: string;
  /** Only runs with an open question whose key begins with this text. */
  readonly asks?: string;
  /** The id of a run: only runs that were begun before it. */
  readonly before?: string;
  /** The most runs to list. Default 100. */
  readonly limit?: number;
}

/** The wanted open questions, oldest first. A question must match every given field. */
export interface QuestionFilter {
  /** Only questions of runs of these agents. */
  readonly agents?: readonly string[];
  /** Only questions of runs whose id begins with this text. */
  readonly prefix?: string;
  /**
   * The last question of the page before: only those behind it, also once it is answered. A question that is asked, or moved here, while somebody pages may stand
   * before that one: whoever looks for new questions begins again at the first page.
   */
  readonly after?: Pick<WaitingQuestion, "runId" | "key" | "since">;
  /** The most questions to list. Default: all. */
  readonly limit?: number;
}

/** The runs to erase: one; all of a session; or, up to a number, those that ended before a time. */
export type Erased =
  | { readonly id: string }
  | { readonly session: string }
  | { readonly endedBefore: number; readonly most: number };

/**
 * The journal of one run, which only this process carries out. Its steps throw `run-taken` if another process has taken the run meanwhile,
 * and `run-ended` if it was cancelled: after that only steps whose beginning was kept can keep their results.
 */
export interface RunJournal extends Journal, AsyncDisposable {
  /** The run, as it was when it was taken. */
  readonly run: StoredRun;
  /** Ends the run for good and gives it up; its questions are removed. A run that was cancelled meanwhile keeps that end. @throws WritError `run-taken` */
  end(end: RunEnd): Promise<void>;
  /**
   * Gives the run up until somebody answers one of its questions. If one was answered since the run was taken, the run goes on at once. The questions with the
   * `passed` keys are removed: nothing waits for them any more.
   */
  wait(passed?: readonly string[]): Promise<void>;
  /** Removes the questions with these keys while the run goes on: nothing waits for them any more. If left out, they are removed when it waits or ends. */
  withdraw?(passed: readonly string[]): Promise<void>;
  /** Gives the run up: any process may take it. Does nothing if it was given up, ended or taken already. */
  close(): Promise<void>;
}

/**
 * A store of runs that outlast their process. Any text is an id. Each change happens as a whole or not at all, and only one process at a time has a run: its
 * journal writes nothing once another has taken it. All functions may be called from any process. A run that was moved to another store can only be
 * read, moved and erased: all else throws `run-moved`.
 */
export interface RunStore {
  /**
   * Keeps a run that is to be carried out; it is on disk when this returns. If there is a run with that id, returns that one and changes nothing.
   */
  begin(run: NewRun): Promise<StoredRun>;
  /**
   * Takes a run for this process, with everything that earlier processes recorded. A run that does not exist is begun, without an agent: only a process that
   * opens it goes on with it. A run that has ended can be opened too, and has its records.
   *
   * @throws WritError `run-claimed` while another live process carries it out, or another journal of this one
   */
  open(id: string): Promise<RunJournal>;
  /**
   * Takes the oldest run of these agents that can go on, or the one with the id: it is ready, or its process died. Skips runs of a later protocol; a run that
   * it takes has this protocol from then on. Of the agents in `alone` it takes only runs without a session.
   * Undefined if there is none.
   */
  claim(agents: readonly string[], id?: string, alone?: readonly string[]): Promise<RunJournal | undefined>;
  read(id: string): Promise<StoredRun | undefined>;
  /** @throws WritError `run-missing` if the run named in `before` is gone */
  list(wanted?: RunFilter): Promise<readonly StoredRun[]>;
  /**
   * The records of a run, in the order in which they were made; with `after`, only those behind the record with that key, or all if there is no such record. The
   * record of a step that has only begun moves behind the others with its result. A worker that carries out the run is not disturbed.
   */
  records(id: string, after?: string): Promise<readonly JournalRecord[]>;
  /** The open questions of all runs, or of one, oldest first. What a store gives beyond `wanted` is left out by `runs.waiting` and by servers. */
  questions(id?: string, wanted?: QuestionFilter): Promise<readonly WaitingQuestion[]>;
  /**
   * Answers a question, once; the run is ready again. The answer is on disk when this returns.
   *
   * @throws WritError `question-unknown` if nothing waits there; `question-answered` if somebody has answered; the errors of `answerRecord`
   */
  answer(id: string, key: string, answer: QuestionAnswer): Promise<void>;
  /**
   * Answers the run's oldest question that waits for a signal of this name; if there is none, keeps the signal for the next such question. A signal whose id
   * was sent before changes nothing. It is on disk when this returns.
   *
   * @throws WritError `run-missing`, `run-ended`
   */
  signal(id: string, signal: RunSignal): Promise<void>;
  /**
   * Answers the questions whose time is over with the answers that they get then, as `answer` does; returns the ids of their runs. Of two answers at the
   * same time the first counts.
   */
  expire(): Promise<readonly string[]>;
  /**
   * Ends a run as cancelled, whichever process has it, and withdraws its questions. Returns the run: one that had ended before keeps its end.
   *
   * @throws WritError `run-missing`
   */
  cancel(id: string, reason: string): Promise<StoredRun>;
  /**
   * Removes the end of a run: it is ready. A run that was answered or cancelled keeps its end, and one without an end stays as it is.
   *
   * @throws WritError `run-missing`
   */
  reopen(id: string): Promise<StoredRun>;
  /**
   * Takes a run out of the store, whichever process has it: it stays there as `moved`, and its journals write nothing any more. A run that was moved already
   * gives the same result again, in case that was lost on its way.
   *
   * @throws WritError `run-missing`
   */
  moveOut(id: string): Promise<MovedRun>;
  /**
   * Puts a whole run into the store. A run that was moved from here may come back, unless the given one was taken out before that.
   *
   * @throws WritError `run-exists`
   */
  moveIn(moved: MovedRun): Promise<StoredRun>;
  /** Erases runs with all their records. Returns their number. @throws WritError `run-claimed` while a live process has one of them */
  erase(which: Erased): Promise<number>;
  /**
   * Calls `onChange` soon (within 0.1 s) after something may have happened to a run, or a record of it was kept, by any process; with the run's id if that is
   * known. It may be called without a change. `isProgress` is true if a process only took the run or kept a record of it: no run can go on because of that,
   * so workers need not ask for one.
   * Returns a function that ends the watching.
   */
  watch(onChange: (id?: string, isProgress?: boolean) => void): () => void;
}
