import type { Json } from "../../util/json.ts";
import { waitMs } from "../wait-ms.ts";
import type { Cell, CellCall } from "./cell.ts";

/** The options of the cells of one tool. */
export interface PoolOptions {
  readonly start: () => Promise<Cell>;
  /** The most processes; more calls wait. */
  readonly processes: number;
  /** The time for which a process without work is kept. */
  readonly idleMs: number;
  /** Runs every call in a process of its own, which ends with it. */
  readonly fresh: boolean;
}

/** The bounds of a call. */
export interface Bounds {
  readonly signal: AbortSignal;
  /** Calls with different keys never share a process, so that data of one stays among calls with the same key. */
  readonly key: string;
  /** The time from when the process begins with the call. */
  readonly timeoutMs: number;
  /** Makes the error of a call that took too long. */
  readonly timedOut: () => unknown;
}

/** Distributes calls to cells. */
export interface Pool {
  /** Starts the first cell, so that its faults are known now. Rejects with the error of starting it. */
  warm(): Promise<void>;
  run(call: CellCall, bounds: Bounds): Promise<Json>;
}

interface Idle {
  readonly cell: Cell;
  /** Undefined for a cell that has carried out no call yet. */
  readonly key: string | undefined;
  readonly timer: NodeJS.Timeout;
}

/** Starts cells when they are needed. A cell works on one call at a time, and ends after a while without work. None keeps the program running. */
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

  /** Passes the place on to the next call in line, or frees it. */
  function leave(): void {
    const next = queue.shift();
    if (next === undefined) busy -= 1;
    else next();
  }

  /** The cell that became idle last, of those that carried out calls of this key or none. */
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

  /** Starts a cell. If there is no other place, it replaces the cell that has been idle for longest. */
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
        // The call may have been stopped while its process started.
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
        else void starting.then(leave, leave); // its process keeps the place until it has started
      }
    },
  };
}
