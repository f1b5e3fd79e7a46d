// A dispatcher of durable runs over Restate: copy it into your project (npm i @restatedev/restate-sdk).
//
// Restate calls an address, behind which any worker may answer. So each agent is a service with the address of its workers, and each run is an object of
// that service. Restate asks one worker at a time to carry out the run, and asks again if that worker died. The store of the runs stays the record: Restate
// knows only the id of a run. A caller who reaches the port of a worker can make it take a run that can continue, and nothing else; `identityKeys` of the
// endpoint admits Restate alone.
import { createServer, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createEndpointHandler, object, type ObjectContext } from "@restatedev/restate-sdk";
import type { DispatchedRun, Dispatcher, Serving, Workplace } from "writ/durable";

/** The workers of an agent, as Restate knows them. */
export interface RestateService {
  /** Letters, digits, `.`, `-` and `_`. */
  readonly name: string;
  /** The port at which each worker listens. */
  readonly port: number;
  /** The address at which Restate reaches any of the workers, such as the address of a load balancer. */
  readonly address: string;
}

export interface RestateOptions {
  /** The address at which Restate takes requests: `http://localhost:8080`. */
  readonly ingress: string;
  /** The address at which Restate registers services: `http://localhost:9070`. */
  readonly admin: string;
  readonly serviceOf: (agent: string) => RestateService;
}

/** The pause between searches for ready runs that Restate does not know of, because the process that started them died before it told Restate. */
const sweepMs = 5000;
/** Restate asks again after 0.1 s, 0.2 s and so on while the worker is full, another process has the run, or nobody listens. */
const retryPolicy = { initialInterval: 100, maxInterval: 1000, maxAttempts: 100_000_000 };

/** Hands out durable runs through a Restate server. */
export function restateDispatcher(options: RestateOptions): Dispatcher {
  return {
    wake: (run) => tell(options, run),
    serve: (workplace) => new RestateServing(workplace, options),
  };
}

/**
 * Tells Restate of a run that can continue; the same key counts once. Before the first worker of an agent, Restate does not know the service: that worker
 * then tells Restate of all ready runs.
 */
async function tell({ ingress, serviceOf }: RestateOptions, run: DispatchedRun, key?: string): Promise<void> {
  const { name } = serviceOf(run.agent);
  const headers = key === undefined ? {} : { "idempotency-key": encodeURIComponent(key) }; // an id is any text
  const url = new URL(`${name}/${encodeURIComponent(run.id)}/advance/send`, ingress);
  await ask(url, { method: "POST", headers }, [404]);
}

async function ask(url: URL, request: RequestInit, alsoFine: readonly number[] = []): Promise<void> {
  const response = await fetch(url, request);
  const text = await response.text();
  if (!response.ok && !alsoFine.includes(response.status))
    throw new Error(`Restate answered ${response.status} at ${url.href}: ${text}`);
}

class RestateServing implements Serving {
  private readonly workplace: Workplace;
  private readonly options: RestateOptions;
  private readonly over = new AbortController();
  private readonly handing = new Set<Promise<void>>();
  private readonly servers: readonly Server[];
  private readonly tending: Promise<void>;

  constructor(workplace: Workplace, options: RestateOptions) {
    this.workplace = workplace;
    this.options = options;
    this.servers = workplace.agents.map((agent) => this.listen(options.serviceOf(agent)));
    this.tending = this.tend();
  }

  look(): void {
    // Restate sends the runs itself
  }

  async leave(): Promise<void> {
    this.over.abort();
    for (const server of this.servers) server.close(); // Restate then asks workers that still listen
    await this.tending;
    await Promise.allSettled(this.handing);
  }

  private listen({ name, port }: RestateService): Server {
    const run = object({
      name,
      options: { retryPolicy, journalRetention: 0, idempotencyRetention: 0 },
      handlers: { advance: ({ key }: ObjectContext) => this.hand(key) },
    });
    const handler = createEndpointHandler({ services: [run], logger: () => undefined, bidirectional: false });
    const server = createServer((request, response) => {
      response.setHeader("connection", "close"); // the next run may go to any worker, not only to the one of this connection
      handler(request, response);
    });
    return server.listen({ port, reusePort: process.platform === "linux" }); // several workers of one machine share the port
  }

  /** Carries out a run until it ends, waits or is given up. @throws if the run can continue, but not here and now: Restate then asks again */
  private async hand(id: string): Promise<void> {
    const handed = this.carry(id);
    this.handing.add(handed);
    await handed.finally(() => this.handing.delete(handed));
  }

  private async carry(id: string): Promise<void> {
    const { workplace } = this;
    if (this.handing.size < workplace.concurrency) {
      let carrying;
      while ((carrying = await workplace.begin(id)) !== undefined) await carrying.done; // the run continues if an answer came meanwhile
    }
    if (await workplace.canGoOn(id)) throw new Error(`The run "${id}" cannot go on at this worker now.`);
  }

  /** Registers the services with Restate, then tells it of runs that it does not know. */
  private async tend(): Promise<void> {
    for (const agent of this.workplace.agents)
      await this.insisting(() => this.register(this.options.serviceOf(agent)));
    while (!this.over.signal.aborted) {
      await this.insisting(() => this.sweep());
      await this.pause(sweepMs);
    }
  }

  private async register({ address }: RestateService): Promise<void> {
    const url = new URL("deployments", this.options.admin);
    const body = JSON.stringify({ uri: address, use_http_11: true, force: true });
    await ask(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  }

  private async sweep(): Promise<void> {
    const minute = Math.floor(Date.now() / 60_000);
    for (const run of await this.workplace.ready()) await tell(this.options, run, `${run.id} ${minute}`);
  }

  /** Repeats an act until it succeeds or the worker leaves. */
  private async insisting(work: () => Promise<void>): Promise<void> {
    while (!this.over.signal.aborted) {
      try {
        return await work();
      } catch (error) {
        process.emitWarning(`Restate or the store failed, and is asked again: ${String(error)}`);
        await this.pause(1000);
      }
    }
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.over.signal }).catch(() => undefined);
  }
}
