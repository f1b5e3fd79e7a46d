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

it("a call that is stopped before its turn is given to no process, which has work for others then", async () => {
  const given: string[] = [];
  const cell: Cell = {
    isUsable: () => true,
    dataBytes: 0,
    run({ callId }) {
      given.push(callId);
      return Promise.resolve(callId);
    },
    abort: () => undefined,
    kill: () => undefined,
    hold: () => undefined,
  };
  const pool = openPool({ start: () => Promise.resolve(cell), processes: 1, idleMs: 5, fresh: false });
  await pool.warm();
  const stop = new AbortController();
  const bounds = { key: "", timeoutMs: 1000, timedOut: () => new Error("late") };
  const stopped = pool.run({ ...call, callId: "first" }, { ...bounds, signal: stop.signal });
  stop.abort(new Error("stopped"));
  await expect(stopped).rejects.toThrow("stopped");
  const next = { ...bounds, signal: new AbortController().signal };
  expect(await pool.run({ ...call, callId: "second" }, next)).toBe("second");
  expect(given).toEqual(["second"]);
});
