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
  /** The name of whoever carries it out. */
  readonly agent: string;
  readonly input: Json;
  readonly options: JsonObject;
  readonly session?: string;
  /** The version of the form in which its steps are recorded. */
  readonly protocol: number;
  /** There when it was made from another run. */
  readonly fork?: ForkOrigin;
}

/** The run from which a fork was made, and how the fork differs. */
export interface ForkOrigin {
  readonly run: string;
  readonly beforeTurn: number;
  readonly instructions?: string;
  readonly model?: string;
  /** The tools that run again. */
  readonly again?: readonly string[];
}

/**
 * The state of a stored run. `ready`: any process may go on with it, also where the one that had it died. `running`: one that lives has it. `waiting`: it goes on when somebody answers. `moved`: it is
 * in another store now. All others are the type of its outcome.
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

/** The end of a stored run. */
export interface RunEnd {
  readonly outcome: Outcome;
  /** There when it answered: the output, as far as JSON can hold it. */
  readonly output?: Json;
  /** Left out, as `turns`, of a run that was cancelled in the store: its records say what it used. */
  readonly usage?: Usage;
  readonly turns?: number;
}

/** A run as it is stored. Times are milliseconds since 1970. */
export interface StoredRun extends NewRun {
  readonly status: RunStatus;
  readonly begunAt: number;
  /** Both are there when it has ended. */
  readonly endedAt?: number;
  readonly end?: RunEnd;
  /** The number of times that it was moved to another store. Left out before the first. */
  readonly moves?: number;
}

/** A run as its caller sees it over a server: by the id that they gave it. */
export type ShownRun = Omit<StoredRun, "options" | "protocol">;

/** A run on its way from one store to another, with all that belongs to it. */
export interface MovedRun {
  /** The run as it goes on: `ready`, or ended. */
  readonly run: StoredRun;
  readonly records: readonly JournalRecord[];
  readonly questions: readonly MovedQuestion[];
}

/** A question on its way. */
export interface MovedQuestion extends Omit<WaitingQuestion, "runId">, Pick<KeptQuestion, "fingerprint"> {
  /** The JSON text of the answer when its time is over. */
  readonly last?: string;
}

/** A question of a run, kept until somebody answers it. */
export interface WaitingQuestion extends OpenQuestion {
  readonly runId: string;
  /** The time at which it was first asked, in milliseconds since 1970. */
  readonly since: number;
  /** The time at which the answer is no, where nobody has answered. Left out where it stands until it is answered. */
  readonly until?: number;
  /** Those who may answer. Left out where anybody may. */
  readonly by?: readonly string[];
}

/** An answer to a question. */
export interface QuestionAnswer extends Approval {
  /** The hash of the request that was shown: an answer to another call is refused. */
  readonly hash: string;
  /** The person who answers, kept with the answer. Whoever calls has made sure of that. Needed where the question names those who may. */
  readonly by?: string;
  /** The `policy` of the request that was shown: an answer to the question of another policy is refused. Default: not compared. */
  readonly policy?: string;
  /** There for a question whether a call happened, in the place of the rest. */
  readonly settled?: Settlement;
}

/** A signal to a run. */
export interface RunSignal {
  /** The name by which a tool waits for it. */
  readonly name: string;
  readonly value: Json;
  /** A second signal of one id changes nothing. */
  readonly id: string;
}

/** The runs that are wanted, the latest first. All that is said must hold. */
export interface RunFilter {
  readonly status?: RunStatus;
  readonly agent?: string;
  readonly session?: string;
  /** Only those whose id begins with this text. */
  readonly prefix?: string;
  /** The id of a run: only those that were begun before it. */
  readonly before?: string;
  /** The most runs to list. Default 100. */
  readonly limit?: number;
}

/** The runs to forget: one; all of a session; or, up to so many, those that ended before a time. */
export type Erased =
  | { readonly id: string }
  | { readonly session: string }
  | { readonly endedBefore: number; readonly most: number };

/**
 * The journal of one run, which this process alone carries out. A step of it throws `run-taken` when another process has taken the run meanwhile,
 * and `run-ended` when it was cancelled: then only the result of a step is kept whose beginning was.
 */
export interface RunJournal extends Journal, AsyncDisposable {
  /** The run as it was when it was taken. */
  readonly run: StoredRun;
  /** Ends the run for good and gives it up; its questions go. The end of a run that was cancelled meanwhile stays. @throws WritError `run-taken` */
  end(end: RunEnd): Promise<void>;
  /**
   * Gives the run up until somebody answers a question of it. One that was answered since the run was taken lets it go on at once. The questions of these keys
   * go: nothing waits for them any more.
   */
  wait(passed?: readonly string[]): Promise<void>;
  /** Takes out the questions of these keys while the run is at work: nothing waits for them any more. Left out, they go when it waits or ends. */
  withdraw?(passed: readonly string[]): Promise<void>;
  /** Gives the run up: any process may take it. Does nothing where it was given up, ended or taken. */
  close(): Promise<void>;
}

/**
 * A store of runs that outlast their process. Any text is an id. Each change happens whole or not at all, and one process at a time has a run: its
 * journal writes nothing once another has taken it. All functions may be called from any process. With a run that was moved to another store nothing can
 * be done but looking, moving and erasing: all else throws `run-moved`.
 */
export interface RunStore {
  /**
   * Keeps a run that is to be carried out, on the disk when it returns. Where there is one of that id it gives that and changes nothing.
   */
  begin(run: NewRun): Promise<StoredRun>;
  /**
   * Takes a run for this process, with all that earlier processes recorded. A run that nobody has begun is begun, without an agent: only who opens it
   * goes on with it. A run that has ended can be opened too, and gives its records.
   *
   * @throws WritError `run-claimed` while another process that lives carries it out, or another journal of this one
   */
  open(id: string): Promise<RunJournal>;
  /**
   * Takes the oldest run of these agents that can go on, or the one of an id: it is ready, or its process died. Leaves those of a later protocol; what it
   * takes is of this one from then on.
   * Undefined when there is none.
   */
  claim(agents: readonly string[], id?: string): Promise<RunJournal | undefined>;
  read(id: string): Promise<StoredRun | undefined>;
  /** @throws WritError `run-missing` where the run is gone that others are to be before */
  list(wanted?: RunFilter): Promise<readonly StoredRun[]>;
  /**
   * The records of a run, in the order in which they were made; with `after` those behind the one of this key alone, or all where there is none. One of a step that
   * is only begun goes behind the others with its result. Whoever carries the run out is not disturbed.
   */
  records(id: string, after?: string): Promise<readonly JournalRecord[]>;
  /** The questions that runs wait for, or one run, the oldest first. */
  questions(id?: string): Promise<readonly WaitingQuestion[]>;
  /**
   * Answers a question, once; the run is ready again. The answer is on the disk when it returns.
   *
   * @throws WritError `question-unknown` when nothing there waits; `question-answered` when somebody has answered; what `answerRecord` throws
   */
  answer(id: string, key: string, answer: QuestionAnswer): Promise<void>;
  /**
   * Answers the oldest question of a run that waits for a signal of this name; without one the signal is kept for the next that is asked. One whose id came before
   * changes nothing. It is on the disk when this returns.
   *
   * @throws WritError `run-missing`, `run-ended`
   */
  signal(id: string, signal: RunSignal): Promise<void>;
  /**
   * Gives the questions whose time is over the answers that they have at last, as `answer` does, and the ids of their runs. Whoever answers at the same time
   * comes first, or not at all.
   */
  expire(): Promise<readonly string[]>;
  /**
   * Ends a run as cancelled, whoever has it, and withdraws its questions. Gives the run: one that had ended before keeps its end.
   *
   * @throws WritError `run-missing`
   */
  cancel(id: string, reason: string): Promise<StoredRun>;
  /**
   * Takes the end of a run back: it is ready. A run that was answered or cancelled keeps its end, and one that has none stays as it is.
   *
   * @throws WritError `run-missing`
   */
  reopen(id: string): Promise<StoredRun>;
  /**
   * Takes a run out of the store, whoever has it: it stays there as `moved`, and no journal of it writes any more. A run that was moved gives the same
   * again, for what was lost on its way.
   *
   * @throws WritError `run-missing`
   */
  moveOut(id: string): Promise<MovedRun>;
  /**
   * Puts a run into the store, whole. One that was moved from here may come back, unless what is given was taken out before that.
   *
   * @throws WritError `run-exists`
   */
  moveIn(moved: MovedRun): Promise<StoredRun>;
  /** Forgets runs with all that was recorded of them. Gives their number. @throws WritError `run-claimed` while a process that lives has one of them */
  erase(which: Erased): Promise<number>;
  /**
   * Calls `onChange` soon after something may have happened to a run or a record of it was kept (within 0.1 s), whoever did it; with its id where that is known. It
   * may be called for nothing.
   * The function that it returns ends that.
   */
  watch(onChange: (id?: string) => void): () => void;
}
