import { checkShape, closed, fromOne } from "../error/check-shape.ts";
import { count, optional, type Shape } from "../util/shape.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { outsideCalls } from "../run/around.ts";
import type { InContext } from "../tool/power-port.ts";
import { carryOut, type Carrying } from "./carry-out.ts";
import type { Serving, Workplace } from "./dispatcher.ts";
import type { DurableAround } from "./durable-options.ts";
import { wakeForgotten } from "./after-others.ts";
import { withGrace } from "./grace.ts";
import { onceAtATime } from "./once-at-a-time.ts";
import { keepTidy } from "./retention.ts";
import { keepsConversation } from "./run-of.ts";
import type { RunJournal, StoredRun } from "./run-store.ts";
import { storeDispatcher } from "./store-dispatcher.ts";
import { tellStoreFailed } from "./store-failed.ts";
import { tellLeft } from "./untaken.ts";
import { wakeById } from "./waking.ts";

/** Options of a worker. */
export interface WorkOptions {
  /** The most runs that are carried out at a time. A run that waits, or stands in line for its session, does not count. Default 10. */
  readonly concurrency?: number;
}

/** The part of a process that carries out runs. */
export interface RunWorker extends AsyncDisposable {
  /** The ids of the runs that it carries out now. */
  readonly runs: readonly string[];
  /**
   * Takes no more runs, lets calls and replies under way end, and gives its runs up where they are: other workers go on with them.
   * Resolves when that is done, or after `graceMs` (default 10 000): work that is still under way then is treated as if the process had died. Time in which the
   * process stood still, as on a paused machine, counts at most a tenth. Another call waits for the same end, with its own `graceMs`.
   */
  drain(options?: { readonly graceMs?: number }): Promise<void>;
}

/** The milliseconds after which a dead process is noticed, or a change that the store did not report. */
const lookMs = 200;

/** The most runs of an agent that are reported as ready at a time. */
const readyAtOnce = 100;

/** The shape of the options of a worker. */
export const workShape: Shape<unknown> = closed({ concurrency: optional(fromOne) });
const drainShape = closed({ graceMs: optional(count) });

/** Carries out the runs that its dispatcher hands out. */
export class RunsWorker implements RunWorker, Workplace {
  readonly agents: readonly string[];
  private readonly atOnce: number;
  /** The agents that take only runs without a session here. */
  private readonly alone: readonly string[];
  private readonly around: DurableAround;
  private readonly outside: InContext;
  private readonly carried = new Map<string, Carrying>();
  private readonly stops: (() => void)[] = [];
  private readonly serving: Serving;
  /** The last run of each agent that was reported as ready, if there may be more behind it. */
  private readonly lookedAt = new Map<string, string>();
  /** Has the store answer overdue questions and end waits. If it fails, it is asked again, and claiming a run tells the author. */
  private readonly expire = onceAtATime(() => this.wakeExpired().catch(() => undefined));
  private isLeaving = false;
  private leaving: Promise<void> | undefined;
  /** The latest drain. */
  private drained: Promise<void> | undefined;

  constructor(around: DurableAround, options: WorkOptions) {
    checkShape("work()", options, workShape);
    this.around = around;
    this.outside = outsideCalls(around.host);
    this.atOnce = options.concurrency ?? 10;
    const { agents = [], sessions } = around;
    this.agents = agents.map(({ name }) => name);
    if (agents.length === 0) {
      const reason =
        "a worker carries out the runs of agents, and it was given none. Pass `agents` beside `store`.";
      throw new WritError("definition-invalid", { where: "work()", reason });
    }
    this.alone = sessions === undefined ? agents.filter(keepsConversation).map(({ name }) => name) : [];
    this.serving = (around.dispatcher ?? storeDispatcher).serve(this);
    this.stops.push(
      around.store.watch((id, isProgress) => {
        if (isProgress !== true) this.changed(id);
      }),
      keepTidy(around),
      wakeForgotten(around),
      tellLeft(this.alone, around),
      this.lookOften(),
    );
    this.serving.look();
  }

  get concurrency(): number {
    return this.atOnce + [...this.carried.values()].filter((carrying) => carrying.isInLine()).length;
  }

  get runs(): readonly string[] {
    return [...this.carried.keys()];
  }

  async begin(id?: string): Promise<Carrying | undefined> {
    if (this.isLeaving) return undefined;
    const { store, host } = this.around;
    try {
      const journal = await store.claim(this.agents, id, this.alone);
      return journal && this.carry(journal);
    } catch (error) {
      if (this.isLeaving) return undefined;
      tellStoreFailed(error, host);
      throw error;
    }
  }

  async canGoOn(id: string): Promise<boolean> {
    const status = (await this.around.store.read(id))?.status;
    return status === "ready" || status === "running";
  }

  async ready(): Promise<readonly StoredRun[]> {
    return (await Promise.all(this.agents.map((agent) => this.readyOf(agent)))).flat();
  }

  /** Some ready runs; the next call returns those begun before them, and so on to the oldest. */
  private async readyOf(agent: string): Promise<readonly StoredRun[]> {
    const before = this.lookedAt.get(agent);
    const from = before === undefined ? {} : { before };
    const runs = await this.around.store
      .list({ status: "ready", agent, ...from, limit: readyAtOnce })
      .catch((error: unknown) => {
        if (isWritError(error, "run-missing")) return []; // the run was erased: the next look starts over
        throw error;
      });
    const last = runs.length < readyAtOnce ? undefined : runs.at(-1)?.id;
    if (last === undefined) this.lookedAt.delete(agent);
    else this.lookedAt.set(agent, last);
    return runs;
  }

  async drain(options: { readonly graceMs?: number } = {}): Promise<void> {
    checkShape("drain()", options, drainShape);
    return (this.drained = this.leave(options.graceMs ?? 10_000));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drained ?? this.drain();
  }

  private async leave(graceMs: number): Promise<void> {
    this.isLeaving = true;
    for (const carrying of this.carried.values()) carrying.leave();
    try {
      await withGrace((this.leaving ??= this.left()), graceMs, this.around.host);
    } finally {
      for (const stop of this.stops.splice(0)) stop();
    }
  }

  private async left(): Promise<void> {
    try {
      await this.serving.leave();
    } finally {
      await Promise.all([...this.carried.values()].map(({ done }) => done));
    }
  }

  private changed(id: string | undefined): void {
    for (const [runId, carrying] of this.carried) if (id === undefined || id === runId) carrying.look();
    this.serving.look();
  }

  private lookOften(): () => void {
    let stop: () => void;
    const again = (): void => {
      stop = this.around.host.timer(lookMs, () => {
        this.changed(undefined);
        this.expire();
        again();
      });
    };
    again();
    return () => stop();
  }

  private async wakeExpired(): Promise<void> {
    for (const id of await this.around.store.expire()) await wakeById(id, this.around);
  }

  private carry(journal: RunJournal): Carrying {
    const { id } = journal.run;
    // The store may have told of the run while a tool of another run was at work here.
    const carrying = this.outside(() => carryOut(journal, this.around, () => this.serving.look()));
    this.carried.set(id, carrying);
    void carrying.done.then(() => {
      if (this.carried.get(id) === carrying) this.carried.delete(id); // otherwise it was answered meanwhile, and taken again
      this.serving.look();
    });
    if (this.isLeaving) carrying.leave();
    return carrying;
  }
}
