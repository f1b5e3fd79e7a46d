import type { RunStore, StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { listRun } from "./list-run.ts";
import type { ListedRun, RunChange } from "./view.ts";

/** The number of characters of one run's records that are searched. */
const mostText = 20_000;
/** The number of runs that are read again if a store does not say which one has changed. */
const mostRecent = 200;

/** Runs read from the store, and the ids of those that no longer exist. */
interface Looked {
  readonly runs: readonly StoredRun[];
  readonly erased: readonly string[];
}

interface Entry {
  readonly run: StoredRun;
  readonly listed: ListedRun;
  /** The content of its records. Undefined until they were read. */
  readonly read?: {
    /** The text that is searched, in lower case. */
    readonly text: string;
    /** The key of the last record that is complete. */
    readonly last: string | undefined;
    /** The number of the records behind it, of steps that have only begun. */
    readonly begun: number;
  };
}

/**
 * The runs of a store as a list that can be filtered and searched. At first it knows only their rows; then it reads their records,
 * one run after another, the latest first.
 */
export class RunIndex {
  /** The most runs that are kept in memory, the latest first; older ones are not listed. */
  most = 20_000;
  private readonly store: RunStore;
  private readonly entries = new Map<string, Entry>();
  private readonly listeners = new Set<(change: RunChange) => void>();
  private reading: Promise<void> = Promise.resolve();
  private isClosed = false;

  constructor(store: RunStore) {
    this.store = store;
  }

  /** Reads the rows of all runs, then begins to read their records. */
  async open(): Promise<void> {
    const runs = await this.store.list({ limit: this.most });
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

  /** The ids of the runs that contain all words: in their input, their answer, or their records. */
  search(words: readonly string[]): readonly string[] {
    const wanted = words.map((word) => word.toLowerCase());
    return [...this.entries.values()].flatMap(({ run, read }) =>
      wanted.every((word) => (read?.text ?? "").includes(word)) ? [run.id] : [],
    );
  }

  /** Calls `onChange` with each change, until the returned function is called. */
  watch(onChange: (change: RunChange) => void): () => void {
    this.listeners.add(onChange);
    return () => void this.listeners.delete(onChange);
  }

  /** Reads runs again: those with these ids, or the latest and those that go on. */
  async look(ids?: ReadonlySet<string>): Promise<void> {
    const { runs, erased } = ids === undefined ? await this.recent() : await this.named(ids);
    const changed = runs.filter((run) => isOpen(run) || !isSame(run, this.entries.get(run.id)?.run));
    this.readSoon(changed);
    this.reading = this.reading.then(() => this.forget([...erased, ...this.oldest()])); // after earlier reads of these runs
    await this.reading;
  }

  private async recent(): Promise<Looked> {
    const latest = await this.store.list({ limit: mostRecent });
    const seen = new Set(latest.map(({ id }) => id));
    const from = latest.length < mostRecent ? 0 : (latest.at(-1)?.begunAt ?? 0);
    const others = [...this.entries.values()].flatMap(({ run }) => (seen.has(run.id) ? [] : [run]));
    const missed = others.filter(({ begunAt }) => begunAt >= from).slice(0, mostRecent); // they belong among the latest
    const older = others.filter((run) => isOpen(run) && run.begunAt < from).slice(0, mostRecent);
    const named = await this.named(new Set([...missed, ...older].map(({ id }) => id)));
    return { runs: [...latest, ...named.runs], erased: named.erased };
  }

  private async named(ids: ReadonlySet<string>): Promise<Looked> {
    const found = await Promise.all([...ids].map(async (id) => ({ id, run: await this.store.read(id) })));
    return {
      runs: found.flatMap(({ run }) => (run === undefined ? [] : [run])),
      erased: found.flatMap(({ id, run }) => (run === undefined ? [id] : [])),
    };
  }

  /** The runs beyond those that are kept; a few more are kept for a while, because finding them takes time. */
  private oldest(): readonly string[] {
    if (this.entries.size < 1.1 * this.most) return [];
    return this.list()
      .slice(this.most)
      .map(({ id }) => id);
  }

  private forget(erased: readonly string[]): void {
    const gone = erased.filter((id) => this.entries.delete(id));
    if (gone.length > 0) for (const listener of this.listeners) listener({ runs: [], erased: gone });
  }

  private readSoon(runs: readonly StoredRun[]): void {
    this.reading = this.reading.then(() => this.readAll(runs)).catch(() => undefined); // the next read tries again
  }

  private async readAll(runs: readonly StoredRun[]): Promise<void> {
    for (let place = 0; place < runs.length && !this.isClosed; place += 50) {
      const changed: ListedRun[] = [];
      for (const run of runs.slice(place, place + 50)) {
        const questions = run.status === "waiting" ? await this.store.questions(run.id) : [];
        if (await this.isKnown(run, questions)) continue;
        changed.push(this.take(run, await this.store.records(run.id), questions));
      }
      if (changed.length > 0) for (const listener of this.listeners) listener({ runs: changed, erased: [] });
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  }

  /** True if a run is as it was read before. Only records behind the known ones are read for that. */
  private async isKnown(run: StoredRun, questions: readonly WaitingQuestion[]): Promise<boolean> {
    const { run: before, listed, read } = this.entries.get(run.id) ?? {};
    if (read === undefined || listed?.waiting !== questions.length || !isSame(run, before)) return false;
    const later = await this.store.records(run.id, read.last);
    return later.length === read.begun && later.every(({ json }) => json === undefined);
  }

  private take(
    run: StoredRun,
    records: readonly JournalRecord[],
    questions: readonly WaitingQuestion[],
  ): ListedRun {
    const listed = listRun(run, records, questions);
    const last = records.findLastIndex(({ json }) => json !== undefined);
    const read = {
      text: searched(run, records),
      last: records[last]?.key,
      begun: records.length - 1 - last,
    };
    this.entries.set(run.id, { run, listed, read });
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
