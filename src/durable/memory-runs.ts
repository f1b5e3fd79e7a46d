import { WritError } from "../error/writ-error.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { copyOfPlain } from "../util/json.ts";
import { type MemoryAround, type MemoryQuestion, MemoryRun } from "./memory-run.ts";
import { checkArrival } from "./moved-run.ts";
import { protocol } from "./protocol.ts";
import type {
  Erased,
  MovedRun,
  NewRun,
  QuestionAnswer,
  QuestionFilter,
  RunFilter,
  RunJournal,
  RunSignal,
  RunStore,
  StoredRun,
  WaitingQuestion,
} from "./run-store.ts";

/**
 * Keeps runs in the memory of this process, for tests and trials: they are gone when it ends. Otherwise it behaves like the other stores.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { durableRuns, memoryRuns } from "writ/durable";
 *
 * const echo = agent({ name: "echo", model: () => "hello" });
 * const runs = durableRuns({ store: memoryRuns(), agents: [echo] });
 * const worker = runs.work();
 * await runs.start(echo, "hi", { id: "r" });
 * console.log((await runs.result("r")).output);
 * await worker.drain();
 * ```
 */
export function memoryRuns(): RunStore {
  return new MemoryRuns();
}

/** A store in memory for simulations, with a clock of its own and processes that can die. */
export interface MortalRuns extends RunStore {
  /** Treats the process that has a run as dead: its later writes are refused, and any other process may take the run. */
  lose(id: string): void;
}

/** The store in memory, with a given clock. `watch` receives every change. */
export function mortalRuns(now: () => number, watch?: MemoryAround["watch"]): MortalRuns {
  return new MemoryRuns(now, watch);
}

type Place = Pick<MemoryQuestion, "since" | "place">;

/** The order of questions: oldest first. */
const inOrder = (one: Place, other: Place): number => one.since - other.since || one.place - other.place;

class MemoryRuns implements MortalRuns {
  /** The runs, in the order in which they were begun. */
  private readonly runs = new Map<string, MemoryRun>();
  /** Those that had not ended at the last look, in the same order. */
  private going = new Map<string, MemoryRun>();
  private readonly watching = new Set<(id?: string) => void>();
  private places = 0;
  private readonly around: MemoryAround;

  constructor(now: () => number = Date.now, watch?: MemoryAround["watch"]) {
    this.around = { now, watch, told: (id) => this.told(id), nextPlace: () => (this.places += 1) };
  }

  lose(id: string): void {
    this.get(id).lose();
  }

  async begin(run: NewRun): Promise<StoredRun> {
    return copyOfPlain(this.begun(run).run);
  }

  async open(id: string): Promise<RunJournal> {
    const run = this.begun({ id, agent: "", input: null, options: {}, protocol });
    run.checkHere();
    run.checkFree();
    return run.taken();
  }

  async claim(
    agents: readonly string[],
    wanted?: string,
    alone: readonly string[] = [],
  ): Promise<RunJournal | undefined> {
    const isTaken = ({ agent, session }: StoredRun): boolean =>
      agents.includes(agent) && (session === undefined || !alone.includes(agent));
    const canGoOn = (run: StoredRun): boolean =>
      run.status === "ready" && isTaken(run) && run.protocol <= protocol && run.id === (wanted ?? run.id);
    return this.unended()
      .find(({ run }) => canGoOn(run))
      ?.taken();
  }

  async read(id: string): Promise<StoredRun | undefined> {
    return copyOfPlain(this.runs.get(id)?.run);
  }

  async list(wanted: RunFilter = {}): Promise<readonly StoredRun[]> {
    const { before, prefix = "", asks, limit = 100 } = wanted;
    const runs = [...this.runs.values()];
    const older = before === undefined ? runs : runs.slice(0, runs.indexOf(this.get(before)));
    const fields = ["status", "agent", "session"] as const;
    const isWanted = ({ run, questions }: MemoryRun): boolean =>
      fields.every((field) => wanted[field] === undefined || wanted[field] === run[field]) &&
      run.id.startsWith(prefix) &&
      (asks === undefined || questions.keys().some((key) => key.startsWith(asks)));
    const found = older.filter(isWanted).map(({ run }) => run);
    return copyOfPlain(found.toReversed().slice(0, limit));
  }

  async records(id: string, after?: string): Promise<readonly JournalRecord[]> {
    const all = [...(this.runs.get(id)?.records.values() ?? [])];
    return all.slice(all.findIndex(({ key }) => key === after) + 1);
  }

  async questions(
    id?: string,
    { agents, prefix = "", after, limit }: QuestionFilter = {},
  ): Promise<readonly WaitingQuestion[]> {
    const known = after && (this.runs.get(after.runId)?.questions.get(after.key)?.place ?? 0);
    const isWanted = ({ id, run }: MemoryRun): boolean =>
      run.status !== "moved" && id.startsWith(prefix) && (agents?.includes(run.agent) ?? true);
    const asking = id === undefined ? this.unended() : [this.runs.get(id)];
    return asking
      .flatMap((one) => {
        if (one === undefined || !isWanted(one)) return [];
        return [...one.questions.values()].map((question) => ({ ...question, agent: one.run.agent }));
      })
      .filter((one) => after === undefined || inOrder(one, { since: after.since, place: known ?? 0 }) > 0)
      .toSorted(inOrder)
      .slice(0, limit)
      .map(({ fingerprint: _fingerprint, place: _place, last: _last, ...question }) => copyOfPlain(question));
  }

  async answer(id: string, key: string, answer: QuestionAnswer): Promise<void> {
    const run = this.runs.get(id);
    if (run === undefined) throw new WritError("question-unknown", { id, place: ` at "${key}"` });
    run.answer(key, answer);
  }

  async signal(id: string, signal: RunSignal): Promise<void> {
    this.get(id).signal(signal);
  }

  async expire(): Promise<readonly string[]> {
    return this.unended()
      .filter((run) => run.expire())
      .map(({ id }) => id);
  }

  async cancel(id: string, reason: string): Promise<StoredRun> {
    const run = this.here(id);
    run.cancel(reason);
    return copyOfPlain(run.run);
  }

  async reopen(id: string): Promise<StoredRun> {
    const run = this.here(id);
    run.reopen();
    this.going = new Map(this.runs); // it has its place again
    return copyOfPlain(run.run);
  }

  async moveOut(id: string): Promise<MovedRun> {
    return this.get(id).moveOut();
  }

  async moveIn(moved: MovedRun): Promise<StoredRun> {
    const { id } = moved.run;
    checkArrival(moved.run, this.runs.get(id)?.run);
    this.runs.delete(id);
    const run = MemoryRun.moved(moved, this.around);
    this.runs.set(id, run);
    this.going = new Map(this.runs);
    this.told(id);
    return copyOfPlain(run.run);
  }

  async erase(which: Erased): Promise<number> {
    const runs = [...this.runs.values()];
    const some =
      "endedBefore" in which
        ? runs.filter((run) => run.isOlder(which.endedBefore)).slice(0, which.most)
        : runs.filter(({ run }) => ("id" in which ? run.id === which.id : run.session === which.session));
    for (const run of some) run.checkFree();
    for (const run of some) {
      run.fence();
      this.runs.delete(run.id);
      this.going.delete(run.id);
      this.told(run.id);
    }
    return some.length;
  }

  watch(onChange: (id?: string) => void): () => void {
    const own = (id?: string): void => onChange(id); // the same function may watch twice
    this.watching.add(own);
    return () => void this.watching.delete(own);
  }

  private begun(run: NewRun): MemoryRun {
    const known = this.runs.get(run.id);
    if (known !== undefined) return known;
    const begun = new MemoryRun(run, this.around);
    this.runs.set(run.id, begun);
    this.going.set(run.id, begun);
    this.told(run.id);
    return begun;
  }

  /** The runs that have not ended: those that have are looked at once. */
  private unended(): MemoryRun[] {
    for (const [id, { run }] of this.going) if (run.end !== undefined) this.going.delete(id);
    return [...this.going.values()];
  }

  private get(id: string): MemoryRun {
    const run = this.runs.get(id);
    if (run === undefined) throw new WritError("run-missing", { id });
    return run;
  }

  /** @throws WritError `run-missing`, `run-moved` */
  private here(id: string): MemoryRun {
    const run = this.get(id);
    run.checkHere();
    return run;
  }

  private told(id: string): void {
    queueMicrotask(() => this.watching.forEach((onChange) => onChange(id)));
  }
}
