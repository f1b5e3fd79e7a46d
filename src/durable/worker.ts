import { checkShape, closed, fromOne } from "../error/check-shape.ts";
import { optional } from "../util/shape.ts";
import { carryOut, type Carrying } from "./carry-out.ts";
import type { DurableAround } from "./durable-options.ts";
import { keepTidy } from "./retention.ts";
import type { RunJournal } from "./run-store.ts";
import { tellStoreFailed } from "./store-failed.ts";

/** Options of a worker. */
export interface WorkOptions {
  /** The runs that are carried out at a time. A run that waits is none of them. Default 10. */
  readonly concurrency?: number;
}

/** The part of a process that carries out runs. */
export interface RunWorker extends AsyncDisposable {
  /** The ids of the runs that it carries out now. */
  readonly runs: readonly string[];
  /**
   * Takes no more runs, lets the calls and replies that are at work end, and gives its runs up where they are: other workers go on with them.
   * Resolves when that is done, or after `graceMs` (default 10 000): what is at work then is taken as if the process had died.
   */
  drain(options?: { readonly graceMs?: number }): Promise<void>;
}

/** The delay after which a dead process is noticed, and a change that the store did not tell of. */
const lookMs = 200;

const shape = closed({ concurrency: optional(fromOne) });

/** Carries out the runs that can go on, so many at a time. */
export class RunsWorker implements RunWorker {
  private readonly around: DurableAround;
  private readonly concurrency: number;
  private readonly names: readonly string[];
  private readonly carried = new Map<string, Carrying>();
  private readonly stops: (() => void)[] = [];
  private isLeaving = false;
  private filling: Promise<void> | undefined;
  private wantsMore = false;

  constructor(around: DurableAround, options: WorkOptions) {
    checkShape("work()", options, shape);
    this.around = around;
    this.concurrency = options.concurrency ?? 10;
    this.names = (around.agents ?? []).map(({ name }) => name);
    this.stops.push(
      around.store.watch((id) => this.changed(id)),
      keepTidy(around),
      this.lookOften(),
    );
    this.fill();
  }

  get runs(): readonly string[] {
    return [...this.carried.keys()];
  }

  async drain({ graceMs = 10_000 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.isLeaving = true;
    await this.filling;
    for (const carrying of this.carried.values()) carrying.leave();
    const { promise, resolve } = Promise.withResolvers<void>();
    const stopTimer = this.around.host.timer(graceMs, resolve);
    await Promise.race([promise, Promise.all([...this.carried.values()].map(({ done }) => done))]);
    stopTimer();
    for (const stop of this.stops.splice(0)) stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drain();
  }

  private changed(id: string | undefined): void {
    for (const [runId, carrying] of this.carried) if (id === undefined || id === runId) carrying.look();
    this.fill();
  }

  private lookOften(): () => void {
    let stop: () => void;
    const again = (): void => {
      stop = this.around.host.timer(lookMs, () => {
        this.changed(undefined);
        again();
      });
    };
    again();
    return () => stop();
  }

  /** Takes runs until there are enough, or no more. Asked meanwhile, it looks once more. */
  private fill(): void {
    this.wantsMore = true;
    this.filling ??= this.take().finally(() => (this.filling = undefined));
  }

  private async take(): Promise<void> {
    while (this.wantsMore) {
      this.wantsMore = false;
      while (!this.isLeaving && this.carried.size < this.concurrency) {
        const journal = await this.claim();
        if (journal === undefined) break;
        this.carry(journal);
      }
    }
  }

  /** A store that fails is asked again at the next look. */
  private async claim(): Promise<RunJournal | undefined> {
    const { store, host } = this.around;
    try {
      return await store.claim(this.names);
    } catch (error) {
      tellStoreFailed(error, host);
      return undefined;
    }
  }

  private carry(journal: RunJournal): void {
    const { id } = journal.run;
    const carrying = carryOut(journal, this.around);
    this.carried.set(id, carrying);
    void carrying.done.then(() => {
      this.carried.delete(id);
      this.fill();
    });
    if (this.isLeaving) carrying.leave();
  }
}
