import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Cell, CellCall } from "../../../../src/adapters/isolate/cell.ts";
import { openPool } from "../../../../src/adapters/isolate/pool.ts";

const call: CellCall = {
  args: {},
  callId: "c",
  idempotencyKey: "k",
  handles: {},
  progress: () => undefined,
};

/** A cell that does what it is asked, but for what is given. */
const cellThat = (on: Partial<Cell> = {}): Cell => ({
  isUsable: () => true,
  dataBytes: 0,
  run: ({ callId }) => Promise.resolve(callId),
  abort: () => undefined,
  kill: () => undefined,
  hold: () => undefined,
  ...on,
});
const bounds = { key: "", timeoutMs: 1000, timedOut: () => new Error("late") };
const unstopped = { ...bounds, signal: new AbortController().signal };

it("calls that are stopped while their process starts leave no more processes than there may be", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let processes = 0;
  const start = async (): Promise<Cell> => {
    processes += 1;
    await gate;
    return cellThat({ kill: () => void (processes -= 1) });
  };
  const pool = openPool({ start, processes: 1, idleMs: 1000, fresh: false });
  for (let each = 0; each < 5; each += 1) {
    const stop = new AbortController();
    const stopped = pool.run(call, { ...bounds, signal: stop.signal });
    await sleep(1);
    stop.abort(new Error("stopped"));
    await expect(stopped).rejects.toThrow("stopped");
  }
  expect(processes).toBe(1);
  open();
  expect(await pool.run(call, unstopped)).toBe("c");
  expect(processes).toBe(1);
});

it("a call that is stopped before its turn is given to no process, which has work for others then", async () => {
  const given: string[] = [];
  const cell = cellThat({
    run({ callId }) {
      given.push(callId);
      return Promise.resolve(callId);
    },
  });
  const pool = openPool({ start: () => Promise.resolve(cell), processes: 1, idleMs: 5, fresh: false });
  await pool.warm();
  const stop = new AbortController();
  const stopped = pool.run({ ...call, callId: "first" }, { ...bounds, signal: stop.signal });
  stop.abort(new Error("stopped"));
  await expect(stopped).rejects.toThrow("stopped");
  expect(await pool.run({ ...call, callId: "second" }, unstopped)).toBe("second");
  expect(given).toEqual(["second"]);
});
it.each([3_000_000_000, Infinity])("a time that no timer can wait is no short one: %d ms", async (ms) => {
  let kills = 0;
  const cell = cellThat({ run: () => sleep(30, "done"), kill: () => void (kills += 1) });
  const pool = openPool({ start: () => Promise.resolve(cell), processes: 1, idleMs: ms, fresh: false });
  expect(await pool.run(call, { ...unstopped, timeoutMs: ms })).toBe("done");
  await sleep(30);
  expect(kills).toBe(0);
});
