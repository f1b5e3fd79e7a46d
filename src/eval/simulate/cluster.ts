import type { MortalRuns } from "../../durable/memory-runs.ts";
import type { RecordPart } from "../../journal/parts.ts";
import type { Machine } from "./machine.ts";
import type { World } from "./world.ts";

/** A run that loses its process when a machine dies. */
export interface Carried {
  readonly machine: Machine;
  readonly isDone: boolean;
  lose(): void;
  handOver(): void;
}

/** The machines of a simulation. */
export interface Machines {
  readonly desk: Machine;
  /** The desk with the changed agent. */
  readonly changedDesk?: Machine;
  readonly machines: readonly [Machine, ...Machine[]];
  /** The parts in which a run may differ from its records. */
  readonly accept?: readonly RecordPart[];
  /** The machines with the changed agent, at the same places; empty if nothing is redeployed. */
  readonly changed: readonly Machine[];
}

/** The machines and the store of durable runs. One machine at a time carries runs out. */
export class Cluster {
  readonly world: World;
  readonly store: MortalRuns;
  readonly carried: Carried[] = [];
  /** The process in which people answer: it carries out nothing, does not die, and is deployed with the others. */
  desk: Machine;
  machine: Machine;
  readonly accept: readonly RecordPart[];
  private readonly machines: readonly Machine[];
  private readonly changed: readonly Machine[];
  private readonly changedDesk: Machine | undefined;
  private processes = 1;

  constructor(
    world: World,
    store: MortalRuns,
    { desk, changedDesk, machines, changed, accept = [] }: Machines,
  ) {
    this.world = world;
    this.store = store;
    this.desk = desk;
    this.machines = machines;
    this.accept = accept;
    this.changed = changed;
    this.changedDesk = changedDesk;
    [this.machine] = machines;
  }

  /** All machines, in the order in which they may have a run. */
  get all(): readonly Machine[] {
    return [...this.machines, ...this.changed].toSorted((one, other) => one.number - other.number);
  }

  /** True while another machine can go on. */
  get hasSpare(): boolean {
    return this.processes < this.machines.length;
  }

  /** Goes on with another machine; `leave` decides about the runs that this one had. */
  moveOn(leave: () => void): void {
    const { world, changed } = this;
    this.processes += 1;
    world.count("losses");
    const at = `process ${this.processes}`;
    const deviation =
      changed.length === 0 ? undefined : world.choose({ kind: "process", at }, () => ({ does: "redeploys" }));
    const from = deviation === undefined ? this.machines : changed;
    this.machine = from[this.processes - 1] ?? this.machine;
    if (deviation !== undefined) this.desk = this.changedDesk ?? this.desk;
    leave();
  }

  /** Ends a machine in the middle of its work. */
  die(machine: Machine): void {
    machine.process.isAlive = false;
    this.world.count("deaths");
    this.world.watch?.({ type: "dies", machine: machine.number });
    this.moveOn(() => {
      for (const each of this.carried) if (each.machine === machine && !each.isDone) each.lose();
    });
  }

  /** Hands over all runs of the machine. */
  handOver(): void {
    if (!this.hasSpare) return;
    this.world.note("the runs are handed over");
    this.moveOn(() => {
      for (const each of this.carried) if (!each.isDone) each.handOver();
    });
  }
}
