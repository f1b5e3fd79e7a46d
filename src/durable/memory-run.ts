import { WritError } from "../error/writ-error.ts";
import { type JournalRecord, type KeptQuestion, recordedJournal } from "../journal/recorded-journal.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { copyOfPlain } from "../util/json.ts";
import { answerRecord, notWaiting } from "./answer-record.ts";
import { movedRun } from "./moved-run.ts";
import { protocol } from "./protocol.ts";
import { isWaitFor, printOfSignal, signalAnswer, signalRecord, takenSignal } from "./signals.ts";
import type {
  MovedQuestion,
  MovedRun,
  NewRun,
  QuestionAnswer,
  RunEnd,
  RunJournal,
  RunSignal,
  StoredRun,
  WaitingQuestion,
} from "./run-store.ts";

/** A question in memory. One with a smaller place was asked earlier. */
export interface MemoryQuestion extends WaitingQuestion, MovedQuestion {
  readonly place: number;
}

/** A change of a run in its store; `epoch` counts how often the run was taken. */
export type StoreChange =
  | { readonly type: "taken" | "left" | "ended"; readonly epoch: number }
  | { readonly type: "kept"; readonly epoch: number; readonly record: JournalRecord }
  | { readonly type: "answered"; readonly key: string; readonly json: string }
  | { readonly type: "lost" | "cancelled" };

/** The parts of a store that its runs use. */
export interface MemoryAround {
  readonly now: () => number;
  /** Receives each change, once it is made. Left out if nobody watches. */
  readonly watch?: ((id: string, change: StoreChange) => void) | undefined;
  readonly told: (id: string) => void;
  readonly nextPlace: () => number;
}

/** A run in memory, with everything that belongs to it. */
export class MemoryRun {
  run: StoredRun;
  readonly records: Map<string, JournalRecord> = new Map();
  readonly questions: Map<string, MemoryQuestion> = new Map();
  /** True while a journal of this process has it. */
  private isHeld = false;
  /** The number of times that it was taken: writes of an earlier journal are refused. */
  private epoch = 0;
  /** True if somebody has answered since it was taken. */
  private isWoken = false;
  private readonly around: MemoryAround;

  constructor(run: NewRun, around: MemoryAround) {
    this.around = around;
    this.run = { ...copyOfPlain(run), status: "ready", begunAt: around.now() };
  }

  get id(): string {
    return this.run.id;
  }

  /** A run that comes from another store, or was in this one before. */
  static moved({ run, records, questions }: MovedRun, around: MemoryAround): MemoryRun {
    const moved = new MemoryRun(run, around);
    moved.run = copyOfPlain(run);
    for (const record of records) moved.records.set(record.key, record);
    for (const question of copyOfPlain(questions).filter(({ key }) => !moved.records.has(key)))
      moved.questions.set(question.key, { ...question, runId: run.id, place: around.nextPlace() });
    return moved;
  }

  /** Takes the run out of its store. */
  moveOut(): MovedRun {
    this.fence();
    const run = movedRun(this.run);
    this.run = { ...this.run, moves: run.moves ?? 0 };
    this.changed("moved");
    return {
      run: copyOfPlain(run),
      records: [...this.records.values()],
      questions: [...this.questions.values()].map(
        ({ runId: _runId, place: _place, ...question }) => question,
      ),
    };
  }

  /** @throws WritError `run-moved` */
  checkHere(): void {
    if (this.run.status === "moved") throw new WritError("run-moved", { id: this.id });
  }

  /** @throws WritError `run-claimed` */
  checkFree(): void {
    if (this.isHeld) throw new WritError("run-claimed", { id: this.id, owner: "this process" });
  }

  /** True if it ended before a time and nobody has it. */
  isOlder(time: number): boolean {
    return !this.isHeld && this.run.endedAt !== undefined && this.run.endedAt < time;
  }

  /** Keeps all its journals from writing any more. */
  fence(): void {
    this.epoch += 1;
    this.isHeld = false;
  }

  /** Treats the process that has the run as dead. */
  lose(): void {
    if (!this.isHeld) return;
    this.fence();
    if (this.run.end === undefined) this.changed("ready");
    this.note({ type: "lost" });
  }

  /** @throws WritError `question-…`, `run-moved` */
  answer(key: string, answer: QuestionAnswer): void {
    this.checkHere();
    const question = this.questions.get(key);
    if (question === undefined) throw notWaiting(this.id, key, this.records.get(key)?.json);
    this.answered(question, answerRecord(question, answer, this.around.now()));
  }

  /** @throws WritError `run-moved`, `run-ended` */
  signal(signal: RunSignal): void {
    this.checkHere();
    const question = [...this.questions.values()].find((each) => isWaitFor(each, signal.name));
    const record = signalRecord(signal, question !== undefined);
    if (this.records.has(record.key)) return;
    const { end, status } = this.run;
    if (end !== undefined) throw new WritError("run-ended", { id: this.id, status });
    this.records.set(record.key, record);
    if (question !== undefined) this.answered(question, signalAnswer(signal));
  }

  /** Answers the questions whose time is over. Returns false if there are none. */
  expire(): boolean {
    const over = [...this.questions.values()].filter(({ until = Infinity }) => this.around.now() >= until);
    if (this.run.status === "moved" || over.length === 0) return false;
    for (const question of over) this.answered(question, question.last ?? "null");
    return true;
  }

  private answered({ key, fingerprint }: MemoryQuestion, json: string): void {
    this.records.set(key, { key, fingerprint, json });
    this.questions.delete(key);
    this.isWoken = true;
    this.note({ type: "answered", key, json });
    if (this.run.status === "waiting") this.changed("ready");
  }

  /** Ends it, unless it has ended. */
  finish(end: RunEnd): void {
    if (this.run.end !== undefined) return;
    this.run = { ...this.run, endedAt: this.around.now(), end: copyOfPlain(end) };
    this.questions.clear();
    this.changed(end.outcome.type);
  }

  /** Ends it as cancelled, unless it has ended. */
  cancel(reason: string): void {
    if (this.run.end !== undefined) return;
    this.finish({ outcome: { type: "cancelled", reason } });
    this.note({ type: "cancelled" });
  }

  /** Removes its end, unless that is for good. */
  reopen(): void {
    const { end: _end, endedAt, ...before } = this.run;
    if (endedAt === undefined || before.status === "answered" || before.status === "cancelled") return;
    this.run = before;
    this.changed("ready");
  }

  /** Takes the run for a journal. */
  taken(): RunJournal {
    this.fence();
    const { epoch } = this;
    this.isHeld = true;
    this.isWoken = false;
    this.run = { ...this.run, protocol: Math.max(this.run.protocol, protocol) };
    this.note({ type: "taken", epoch });
    if (this.run.end === undefined) this.changed("running");
    const journal = recordedJournal(
      [...this.records.values()],
      (record) => this.keep(epoch, record),
      (question) => this.keepQuestion(epoch, question),
    );
    const close = async (): Promise<void> => this.leave(epoch, false);
    return {
      ...journal,
      run: copyOfPlain(this.run),
      end: async (end) => {
        this.checkMine(epoch);
        this.finish(end);
        this.note({ type: "ended", epoch });
        this.leave(epoch, false);
      },
      wait: async (passed = []) => {
        this.withdraw(epoch, passed);
        this.leave(epoch, true);
      },
      withdraw: async (passed) => {
        this.withdraw(epoch, passed);
        this.around.told(this.id);
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  private keep(epoch: number, record: JournalRecord): string | undefined {
    const begun = this.records.get(record.key);
    const isResult = record.json !== undefined && begun !== undefined && begun.json === undefined;
    this.checkOpen(epoch, isResult);
    const isAnswered = record.json !== undefined && begun?.fingerprint === record.fingerprint;
    if (isAnswered && begun.json !== undefined) return begun.json; // somebody answered first
    this.records.delete(record.key); // records are in the order of their results
    this.records.set(record.key, record);
    this.questions.delete(record.key); // the process asked somebody itself
    this.note({ type: "kept", epoch, record });
    this.around.told(this.id);
    return undefined;
  }

  private keepQuestion(epoch: number, question: KeptQuestion): string | undefined {
    const { key, fingerprint, request, atLast, by, signal } = question;
    const known = this.records.get(key);
    const json = known?.fingerprint === fingerprint ? known.json : undefined;
    this.checkOpen(epoch, json !== undefined);
    if (json !== undefined) return json;
    const kept = signal === undefined ? undefined : this.takeSignal(signal);
    if (kept !== undefined) {
      this.records.set(key, { key, fingerprint, json: kept });
      return kept;
    }
    const first = this.questions.get(key) ?? this.newQuestion(atLast);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a run asks about a call
    const asked = copyOfPlain(request) as unknown as ApprovalRequest;
    this.questions.set(key, { ...first, runId: this.id, key, fingerprint, request: asked, by });
    return undefined;
  }

  /** Takes the oldest kept signal of a name. */
  private takeSignal(name: string): string | undefined {
    const print = printOfSignal(name);
    const kept = [...this.records.values()].find(({ fingerprint }) => fingerprint === print);
    if (kept !== undefined) this.records.set(kept.key, { key: kept.key, ...takenSignal });
    return kept?.json;
  }

  private newQuestion(
    atLast: KeptQuestion["atLast"],
  ): Pick<MemoryQuestion, "since" | "place" | "until" | "last"> {
    const [since, place] = [this.around.now(), this.around.nextPlace()];
    if (atLast === undefined) return { since, place };
    return { since, place, until: since + atLast.afterMs, last: JSON.stringify(atLast.answer) };
  }

  private withdraw(epoch: number, keys: readonly string[]): void {
    if (this.epoch === epoch) for (const key of keys) this.questions.delete(key);
  }

  private leave(epoch: number, waits: boolean): void {
    if (this.epoch !== epoch || !this.isHeld) return;
    this.isHeld = false;
    if (this.run.end !== undefined) return;
    this.note({ type: "left", epoch });
    this.changed(waits && !this.isWoken ? "waiting" : "ready");
  }

  private checkMine(epoch: number): void {
    if (this.epoch !== epoch) throw new WritError("run-taken", { id: this.id });
  }

  private checkOpen(epoch: number, isResult: boolean): void {
    this.checkMine(epoch);
    const { end, status } = this.run;
    if (end !== undefined && !isResult) throw new WritError("run-ended", { id: this.id, status });
  }

  private note(change: StoreChange): void {
    this.around.watch?.(this.id, change);
  }

  private changed(status: StoredRun["status"]): void {
    this.run = { ...this.run, status };
    this.around.told(this.id);
  }
}
