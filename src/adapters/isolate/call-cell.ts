import { WritError } from "../../error/writ-error.ts";
import type { ToolContext } from "../../tool/tool.ts";
import { type Json, toJson } from "../../util/json.ts";
import { current } from "../capability/lifetime.ts";
import type { GivenHandles } from "./broker.ts";
import { CellError } from "./link.ts";
import type { Pool } from "./pool.ts";

/** A call of a tool whose code runs in cells. */
export interface CellCalling {
  readonly tool: string;
  readonly args: unknown;
  readonly context: Pick<ToolContext, "callId" | "idempotencyKey" | "signal" | "progress">;
  readonly handles: GivenHandles;
  readonly timeoutMs: number;
}

/**
 * Has a cell carry out a call. Throws the error of the code, or the error of a handle that the code did not catch.
 *
 * @throws WritError `isolate-failed` if the cell ended, took too long, or wrote something forbidden
 */
export async function callCell(pool: Pool, calling: CellCalling): Promise<Json> {
  const { tool, context, handles, timeoutMs } = calling;
  const args = toJson(calling.args);
  if (!args.ok) throw failed(tool, `its arguments are not JSON: ${args.reason}`);
  const { callId, idempotencyKey, signal, progress } = context;
  const call = { args: args.value, callId, idempotencyKey, handles, progress };
  const bounds = {
    signal,
    // Calls with other powers get another cell, so that no call learns the data of another's powers.
    key: JSON.stringify(current()?.powers ?? []),
    // The runtime's own timer comes first, if there is one.
    timeoutMs: timeoutMs + 50,
    timedOut: () => failed(tool, `it did not end within ${timeoutMs} ms`),
  };
  return named(tool, pool.run(call, bounds));
}

/**
 * Starts the first cell of a tool.
 *
 * @throws WritError `isolate-failed` if it does not start, or its module cannot be loaded
 */
export function warmPool(pool: Pool, tool: string): Promise<void> {
  return named(tool, pool.warm());
}

async function named<Value>(tool: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof CellError ? failed(tool, error.message, error.cause) : error;
  }
}

function failed(tool: string, reason: string, cause?: unknown): WritError<"isolate-failed"> {
  return new WritError("isolate-failed", { tool, reason }, { cause });
}
