import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { DispatchedRun, Serving, Workplace } from "../../durable/dispatcher.ts";
import { tellServingFailed } from "../../durable/store-failed.ts";
import { WritError } from "../../error/writ-error.ts";
import { nearest } from "../../util/nearest.ts";
import { nodeHost } from "../clock.ts";
import {
  application,
  type Dbos,
  type DbosTables,
  enqueue,
  logger,
  makeAlone,
  queuedTimes,
  queueOf,
  workflowName,
} from "./dbos-tables.ts";
import type { DbosPlace } from "./options.ts";
import { type ExecutorGuard, executorGuard } from "./executor-guard.ts";

/** The interval at which a queue is polled. */
const pollMs = 200;
/** The pause after DBOS or the store failed. */
const pauseMs = 1000;
/** The delay before the next look at a run that was handed out here but that another process has, which may die. */
const heldSeconds = 5;
/** The same for a run handed out to a worker that has enough: DBOS has one number for all workers of a queue, the greatest. */
const fullSeconds = 1;
const guardMs = 500;
/** The number of rounds between searches for runs that DBOS was not told of, because the process that started them died in between. */
const guardsPerSweep = 10;

/** Register: the one worker of this process. DBOS has one executor per process, whose workflow is known by its name. */
let atWork: DbosServing | undefined;
/** Register: whether the workflow was registered, because DBOS refuses a workflow that it knows. */
let isRegistered = false;

/** Has DBOS hand out runs to a worker. @throws WritError `definition-invalid` if this process already has one, or a bound misspells the name of an agent */
export function serveHere(workplace: Workplace, place: DbosPlace, open: () => Promise<DbosTables>): Serving {
  checkQueues(place, workplace);
  const reason = "DBOS runs once in a process, and hands out to a worker here already. Drain that one first.";
  if (atWork !== undefined) throw new WritError("definition-invalid", { where: "work()", reason });
  return (atWork = new DbosServing(workplace, place, open));
}

/** True while a worker that was not told to leave gets runs from this place. */
export function isServed(place: DbosPlace): boolean {
  return atWork?.place === place && !atWork.isLeaving;
}

/** Refuses a misspelt name, whose bound would apply to nothing. Names of agents of other workers are allowed. */
function checkQueues({ queues }: DbosPlace, { agents }: Workplace): void {
  const unbound = agents.filter((name) => queues[name] === undefined);
  for (const name of Object.keys(queues)) {
    const meant = agents.includes(name) ? undefined : nearest(name, unbound);
    if (meant === undefined) continue;
    const reason = `it bounds ${JSON.stringify(name)}, and the worker has no agent of that name. Did you mean ${JSON.stringify(meant)}?`;
    throw new WritError("definition-invalid", { where: "`queues` of dbosDispatcher()", reason });
  }
}

class DbosServing implements Serving {
  private readonly workplace: Workplace;
  readonly place: DbosPlace;
  private readonly open: () => Promise<DbosTables>;
  private readonly executor = randomUUID();
  private readonly guard: ExecutorGuard;
  private readonly over = new AbortController();
  private readonly handing = new Set<Promise<void>>();
  private readonly tending: Promise<void>;
  private busy = 0;

  constructor(workplace: Workplace, place: DbosPlace, open: () => Promise<DbosTables>) {
    this.workplace = workplace;
    this.place = place;
    this.open = open;
    this.guard = executorGuard(place, this.executor);
    this.tending = this.tend();
  }

  get isLeaving(): boolean {
    return this.over.signal.aborted;
  }

  look(): void {
    // DBOS polls by itself
  }

  async leave(): Promise<void> {
    this.over.abort();
    await this.tending;
    await Promise.all(this.handing);
    try {
      const { dbos } = await this.open();
      await dbos.shutdown({ workflowCompletionTimeoutMS: pauseMs });
    } finally {
      await this.guard.close();
      atWork = undefined;
    }
  }

  /** The step of a workflow: carries a run out until it ends or waits. The rest of the run is a workflow of its own. */
  async hand(run: DispatchedRun): Promise<void> {
    const handed = this.insisting(() => this.carry(run));
    this.handing.add(handed);
    await handed;
    this.handing.delete(handed);
  }

  private async carry(run: DispatchedRun): Promise<void> {
    const { workplace, over } = this;
    const isFull = this.busy >= workplace.concurrency;
    if (!isFull) {
      this.busy += 1;
      try {
        let carrying;
        while ((carrying = await workplace.begin(run.id)) !== undefined) await carrying.done; // it goes on if an answer came meanwhile
      } finally {
        this.busy -= 1;
      }
    }
    if (!(await workplace.canGoOn(run.id))) return;
    const tables = await this.open();
    const isHeld = !isFull && !over.signal.aborted;
    if (isHeld && (await queuedTimes(tables, run)) > 1) return; // the other workflow takes care of it
    const delaySeconds = isFull ? fullSeconds : heldSeconds;
    await enqueue(tables, run, over.signal.aborted ? {} : { delaySeconds });
  }

  /** Launches DBOS, then takes care of runs that others left. */
  private async tend(): Promise<void> {
    await this.insisting(() => this.launch());
    await this.insisting(() => this.registerQueues());
    for (let round = 0; !this.over.signal.aborted; round += 1) {
      await this.insisting(async () => {
        const tables = await this.open();
        await this.guard.takeOver(tables, this.workplace.agents.map(queueOf));
        if (round % guardsPerSweep === 0) await this.sweep(tables);
      });
      await this.pause(guardMs);
    }
  }

  private async launch(): Promise<void> {
    const { dbos, pool } = await this.open();
    const { place, workplace } = this;
    await this.guard.stand();
    if (!isRegistered) registerWorkflow(dbos);
    dbos.setConfig({
      name: application.name,
      applicationVersion: application.version,
      executorID: this.executor,
      systemDatabaseUrl: place.url,
      systemDatabasePool: pool,
      systemDatabaseSchemaName: place.schema,
      listenQueues: workplace.agents.map(queueOf),
      logger,
    });
    await makeAlone(place, () => launchWhole(dbos));
  }

  private async registerQueues(): Promise<void> {
    const { dbos } = await this.open();
    const { place, workplace } = this;
    for (const agent of workplace.agents) {
      const { atOnce, rate } = place.queues[agent] ?? {};
      const others = await (await dbos.retrieveQueue(queueOf(agent)))?.getWorkerConcurrency();
      await dbos.registerQueue(queueOf(agent), {
        onConflict: "always_update",
        workerConcurrency: Math.min(Math.max(workplace.concurrency, others ?? 0), atOnce ?? Infinity),
        minPollingIntervalMs: pollMs,
        ...(atOnce === undefined ? {} : { globalConcurrency: atOnce }),
        ...(rate === undefined
          ? {}
          : { rateLimit: { limitPerPeriod: rate.most, periodSec: rate.perSeconds } }),
      });
    }
  }

  /** Announces ready runs that may not be queued to DBOS, and removes finished workflows from its tables. */
  private async sweep(tables: DbosTables): Promise<void> {
    for (const run of await this.workplace.ready())
      if ((await queuedTimes(tables, run)) === 0) await enqueue(tables, run, { once: "swept" }); // a queued run would be queued twice
    const completedBefore = new Date(Date.now() - 3_600_000).toISOString();
    const done = await tables.client.listWorkflows({
      workflowName,
      completedBefore,
      limit: 500,
      loadInput: false,
      loadOutput: false,
    });
    if (done.length > 0) await tables.client.deleteWorkflows(done.map(({ workflowID }) => workflowID));
  }

  /** Repeats work until it succeeds, or the worker leaves. */
  private async insisting(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.over.signal.aborted) return;
        tellServingFailed(error, nodeHost);
        await this.pause(pauseMs);
      }
    }
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.over.signal }).catch(() => undefined);
  }
}

/** Launches DBOS. If it fails halfway, DBOS counts as launched, but would hand out nothing: it is shut down, so that the next attempt begins anew. */
async function launchWhole(dbos: Dbos["DBOS"]): Promise<void> {
  try {
    await dbos.launch();
  } catch (error) {
    await dbos.shutdown().catch(() => undefined); // the first failure is reported
    throw error;
  }
}

/** Registers the workflow with DBOS, once in a process. */
function registerWorkflow(dbos: Dbos["DBOS"]): void {
  isRegistered = true;
  const advance = async (id: string, agent: string): Promise<void> => {
    await dbos.runStep(async () => atWork?.hand({ id, agent }), { name: "carry out" });
  };
  dbos.registerWorkflow(advance, { name: workflowName });
}
