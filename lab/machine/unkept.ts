/** Keeps back what a run inside a call told of its ends, until the call itself is kept. */
import type { StoreChange } from "../../src/durable/memory-run.ts";
import { outermost } from "./trace.ts";

/**
 * Moves of a run that count once the call around it is kept: what runs beside it decides which bounds it meets, and that comes in another order where the
 * process dies and the next one goes on. Those of an outermost run, and of one that no store keeps, count at once.
 */
export class Unkept {
  /** The key of the call around the run; empty for an outermost run. */
  private readonly call: string;
  private moves: (() => void)[] = [];
  private isStored = false;

  constructor(runId: string) {
    this.call = runId.slice(outermost(runId).length + 1).replace(/\/[^/]+\/[^/]+$/, "");
  }

  take(move: () => void): void {
    if (this.isStored && this.call !== "") this.moves.push(move);
    else move();
  }

  see(change: StoreChange): void {
    this.isStored = true;
    if (change.type === "taken") this.moves = [];
    const isKept =
      change.type === "kept" && change.record.key === this.call && change.record.json !== undefined;
    if (isKept) for (const move of this.moves.splice(0)) move();
  }
}
