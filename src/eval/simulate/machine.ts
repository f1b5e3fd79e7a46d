import { AsyncResource } from "node:async_hooks";
import { nodeHost } from "../../adapters/clock.ts";
import type { AgentEvent } from "../../event/event.ts";
import type { Host } from "../../journal/host.ts";
import { type Heard, never, type SimulatedProcess, type World } from "./world.ts";

/** A machine of a simulation: an agent was made for it, and one process of each schedule uses it. */
export class Machine {
  readonly host: Host;
  readonly number: number;
  heard: Heard = new Map();
  private current: { readonly world: World; readonly process: SimulatedProcess } | undefined;

  constructor(number: number) {
    this.number = number;
    this.host = {
      now: () => this.world.now,
      timer: (afterMs, fire) => {
        const { process, world } = this;
        const scope = new AsyncResource("timer"); // as timers of Node do
        return world.timer(afterMs, () => {
          if (process.isAlive) scope.runInAsyncScope(fire);
        });
      },
      randomId: () => `id-${this.world.count("id")}`,
      digest: nodeHost.digest,
      powers: nodeHost.powers,
    };
  }

  /** Gives the machine to a process of a new schedule. */
  begin(world: World): void {
    this.heard = new Map();
    this.current = { world, process: { number: this.number, isAlive: true } };
  }

  get world(): World {
    if (this.current === undefined) throw new Error("a machine is used outside of a schedule");
    return this.current.world;
  }

  get process(): SimulatedProcess {
    if (this.current === undefined) throw new Error("a machine is used outside of a schedule");
    return this.current.process;
  }

  /** Waits. If the process dies meanwhile, the promise never resolves. */
  sleep(ms: number): Promise<void> {
    const { process, world } = this;
    if (!process.isAlive) return never();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.timer(ms, () => {
      if (process.isAlive) resolve();
    });
    return promise;
  }

  /** Keeps an event of a run. A run that is told again from its beginning replaces the earlier events. */
  hear(event: AgentEvent): void {
    if (!this.process.isAlive) return;
    const { runId } = event;
    this.world.watch?.({ type: "tells", machine: this.number, event });
    if (event.type === "call-decided") this.world.decided(event, this.number);
    const known = this.heard.get(runId);
    if (known === undefined || event.type === "run-start") this.heard.set(runId, [event]);
    else known.push(event);
  }
}
