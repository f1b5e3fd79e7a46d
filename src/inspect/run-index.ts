import type { RunStore, StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { listRun } from "./list-run.ts";
import type { ListedRun } from "./view.ts";

/** The runs that are kept in mind, the latest first; older ones are not listed. */
export const mostRuns = 20_000;
/** The characters of the records of one run that are searched. */
const mostText = 20_000;
/** The runs that are looked at again when a store does not say which one has changed. */
const mostRecent = 200;

interface Entry {
  readonly run: StoredRun;
  readonly listed: ListedRun;
  /** The text that is searched, in small letters. Undefined until the records were read. */
  readonly text?: string;
}

/**
 * The runs of a store as a list that can be filtered and searched. First it knows what stands in their rows; what stands in their records it reads
 * one run after another, the latest first.
 */
export class RunIndex {
  private readonly store: RunStore;
  private readonly entries = new Map<string, Entry>();
  private readonly listeners = new Set<(runs: readonly ListedRun[]) => void>();
  private reading: Promise<void> = Promise.resolve();
  private isClosed = false;

  constructor(store: RunStore) {
    this.store = store;
  }

  /** Reads the rows of all runs, then begins with their records. */
  async open(): Promise<void> {
    const runs = await this.store.list({ limit: mostRuns });
    for (const run of runs) this.entries.set(run.id, { run, listed: listRun(run) });
    this.readSoon(runs);
  }

  close(): void {
    this.isClosed = true;
  }

  /** All runs, the latest first. */
  list(): readonly ListedRun[] {
    return [...this.entries.values()]
      .map(({ listed }) => listed)
      .toSorted((one, other) => other.begunAt - one.begunAt);
  }

  /** The ids of the runs in which all words stand: in their input, their answer, or in what was recorded of them. */
  search(words: readonly string[]): readonly string[] {
    const wanted = words.map((word) => word.toLowerCase());
    return [...this.entries.values()].flatMap(({ run, text = "" }) =>
      wanted.every((word) => text.includes(word)) ? [run.id] : [],
    );
  }

  /** Calls `onChange` with the runs that have changed. What it returns ends that. */
  watch(onChange: (runs: readonly ListedRun[]) => void): () => void {
    this.listeners.add(onChange);
    return () => void this.listeners.delete(onChange);
  }

  /** Looks again at runs: at those of these ids, or at the latest and those that go on. */
  async look(ids?: ReadonlySet<string>): Promise<void> {
    const runs = ids === undefined ? await this.recent() : await this.named(ids);
    const changed = runs.filter((run) => isOpen(run) || !isSame(run, this.entries.get(run.id)?.run));
    this.readSoon(changed);
    await this.reading;
  }

  private async recent(): Promise<readonly StoredRun[]> {
    const latest = await this.store.list({ limit: mostRecent });
    const seen = new Set(latest.map(({ id }) => id));
    const older = [...this.entries.values()].filter(({ run }) => isOpen(run) && !seen.has(run.id));
    return [...latest, ...(await this.named(new Set(older.slice(0, mostRecent).map(({ run }) => run.id))))];
  }

  private async named(ids: ReadonlySet<string>): Promise<readonly StoredRun[]> {
    const runs = await Promise.all([...ids].map((id) => this.store.read(id)));
    return runs.filter((run) => run !== undefined);
  }

  private readSoon(runs: readonly StoredRun[]): void {
    this.reading = this.reading.then(() => this.readAll(runs)).catch(() => undefined); // the next look tries again
  }

  private async readAll(runs: readonly StoredRun[]): Promise<void> {
    for (let place = 0; place < runs.length && !this.isClosed; place += 50) {
      const changed: ListedRun[] = [];
      for (const run of runs.slice(place, place + 50)) {
        const [records, questions] = await Promise.all([
          this.store.records(run.id),
          run.status === "waiting" ? this.store.questions(run.id) : [],
        ]);
        changed.push(this.take(run, records, questions));
      }
      for (const listener of this.listeners) listener(changed);
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  }

  private take(
    run: StoredRun,
    records: readonly JournalRecord[],
    questions: readonly WaitingQuestion[],
  ): ListedRun {
    const listed = listRun(run, records, questions);
    this.entries.set(run.id, { run, listed, text: searched(run, records) });
    return listed;
  }
}

function searched({ id, agent, input, end }: StoredRun, records: readonly JournalRecord[]): string {
  let text = `${id} ${agent} ${JSON.stringify(input)} ${JSON.stringify(end?.outcome ?? "")}`;
  for (const { key, json = "" } of records) {
    if (text.length > mostText) break;
    if (key.startsWith("turn/")) text += ` ${json}`;
  }
  return text.slice(0, mostText).toLowerCase();
}

const isOpen = ({ status }: StoredRun): boolean =>
  status === "running" || status === "waiting" || status === "ready";

const isSame = (run: StoredRun, before: StoredRun | undefined): boolean =>
  run.status === before?.status && run.endedAt === before.endedAt && run.moves === before.moves;
