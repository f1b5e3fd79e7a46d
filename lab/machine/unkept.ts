/** Holds back the moves at the end of an inner run until the call around it is stored. */
import type { StoreChange } from "../../src/durable/memory-run.ts";
import { outermost } from "./trace.ts";

/**
 * Moves of a run that count once the call around it is stored: runs beside it decide which bounds it meets, and they may come in another order where the
 * process dies and the next one goes on. The moves of an outermost run, and of a run without a store, count at once.
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
