import type { Json } from "../../util/json.ts";
import { waitMs } from "../wait-ms.ts";
import type { Cell, CellCall } from "./cell.ts";

/** Options of the cells of one tool. */
export interface PoolOptions {
  readonly start: () => Promise<Cell>;
  /** So many processes at most; more calls wait. */
  readonly processes: number;
  /** So long a process without work is kept. */
  readonly idleMs: number;
  /** Every call in a process of its own, which ends with it. */
  readonly fresh: boolean;
}

/** Bounds of a call. */
export interface Bounds {
  readonly signal: AbortSignal;
  /** Calls of different keys never have the same process: what one of them learns stays with its like. */
  readonly key: string;
  /** Counted from when the process works on the call. */
  readonly timeoutMs: number;
  /** Makes the error of a call whose time is over. */
  readonly timedOut: () => unknown;
}

/** Gives calls to cells. */
export interface Pool {
  /** Starts the first cell, so that what is wrong with it is known now. Rejects with what starting it rejects with. */
  warm(): Promise<void>;
  run(call: CellCall, bounds: Bounds): Promise<Json>;
}

interface Idle {
  readonly cell: Cell;
  /** Undefined for a cell that has carried out no call yet. */
  readonly key: string | undefined;
  readonly timer: NodeJS.Timeout;
}

/** Cells are started when they are needed, work on one call at a time, and end after a while without work. None keeps the program running. */
export function openPool({ start, processes, idleMs, fresh }: PoolOptions): Pool {
  const idle: Idle[] = [];
  const queue: (() => void)[] = [];
  let busy = 0;

  async function enter(signal: AbortSignal): Promise<void> {
    if (busy < processes) {
      busy += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      const at = queue.indexOf(resolve);
      if (at >= 0) queue.splice(at, 1);
      reject(signal.reason);
    };
    queue.push(resolve);
    signal.addEventListener("abort", onAbort, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  /** The place goes to the next in line, or is free. */
  function leave(): void {
    const next = queue.shift();
    if (next === undefined) busy -= 1;
    else next();
  }

  /** The cell that rests since the shortest time, of those that carried out calls of this key or none. */
  function takeIdle(key: string): Cell | undefined {
    const at = idle.findLastIndex(
      (each) => each.cell.isUsable() && (each.key === key || each.key === undefined),
    );
    const [taken] = at < 0 ? [] : idle.splice(at, 1);
    clearTimeout(taken?.timer);
    return taken?.cell;
  }

  /** Keeps a cell for the next call, for a while. */
  function keep(cell: Cell, key: string | undefined): void {
    if (!cell.isUsable()) return;
    if (fresh && key !== undefined) return cell.kill();
    cell.hold(false);
    idle.push({ cell, key, timer: setTimeout(() => drop(cell), waitMs(idleMs)).unref() });
  }

  /** A new cell takes the place of the one that rests since the longest time, where there is no other. */
  async function startOne(): Promise<Cell> {
    if (idle.length + busy > processes) drop(idle[0]?.cell);
    return start();
  }

  function drop(cell: Cell | undefined): void {
    const at = idle.findIndex((each) => each.cell === cell);
    const [dropped] = at < 0 ? [] : idle.splice(at, 1);
    clearTimeout(dropped?.timer);
    cell?.kill();
  }

  return {
    async warm() {
      keep(await start(), undefined);
    },
    async run(call, { signal, key, timeoutMs, timedOut }) {
      signal.throwIfAborted();
      await enter(signal);
      let cell: Cell | undefined;
      let starting: Promise<Cell> | undefined;
      const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
      const onAbort = (): void => {
        cell?.abort("the call was stopped");
        stop(signal.reason);
      };
      let timer: NodeJS.Timeout | undefined;
      signal.addEventListener("abort", onAbort, { once: true });
      let isOver = false;
      const work = async (): Promise<Json> => {
        const taken = takeIdle(key) ?? (await (starting = startOne()));
        // The call may have been stopped while its process was started.
        if (isOver) return keep(taken, undefined) ?? null;
        cell = taken;
        cell.hold(true);
        timer = setTimeout(() => {
          taken.abort("the time of the call is over");
          stop(timedOut());
        }, waitMs(timeoutMs));
        return cell.run(call);
      };
      try {
        signal.throwIfAborted(); // it was stopped while it waited for its turn
        return await Promise.race([work(), stopped]);
      } finally {
        isOver = true;
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        if (cell !== undefined) keep(cell, key);
        if (cell !== undefined || starting === undefined) leave();
        else void starting.then(leave, leave); // its process has the place until it has started
      }
    },
  };
}
