import { messageOf } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { StepScope } from "../journal/journal.ts";
import type { ToolResult } from "../message/message.ts";
import { describeIssues } from "../schema/schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { Interrupt } from "../util/interrupt.ts";
import { type Json, toJson } from "../util/json.ts";
import type { ExecuteOptions } from "./options.ts";
import type { Runnable } from "./prepare.ts";
import type { Slots } from "./slots.ts";

/** What the journal keeps of one call. Times are milliseconds since 1970. */
export interface CallRecord {
  readonly result: ToolResult;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** What a call needs of its run. */
export interface PerformOptions {
  readonly host: Host;
  readonly stop: Interrupt<unknown>;
  readonly slots: Slots;
  /** Milliseconds for a tool without a time-out of its own; `Infinity` for none. */
  readonly toolMs: number;
  /** Bytes of the result that the model is shown; `Infinity` for all. */
  readonly resultBytes: number;
  readonly progress: (callId: string, value: Json) => void;
  /** Told the error that a tool threw, for the cause of the run's own error. */
  readonly onThrow: (callId: string, error: unknown) => void;
}

/** What the calls of a turn are performed with. */
export function performOptions(
  { host, stop, slots, onThrow, limits, tell }: ExecuteOptions,
  turn: number,
): PerformOptions {
  const progress = (callId: string, value: Json): void =>
    tell?.({ type: "tool-progress", turn, callId, value });
  return { host, stop, slots, onThrow, progress, toolMs: limits.toolMs, resultBytes: limits.resultBytes };
}

/**
 * Runs one call: waits for its slot, runs the tool within its time, checks the result. Never throws: every end is a result. A value that
 * comes after the time-out or after the run was stopped is ignored.
 */
export async function perform(
  runnable: Runnable,
  scope: StepScope,
  options: PerformOptions,
): Promise<CallRecord> {
  const { host, stop, slots } = options;
  const waiting = slots.enter(runnable.tool.exclusiveKey(runnable.args));
  const leave = waiting === undefined ? undefined : await waiting;
  const startedAt = host.now();
  try {
    const result =
      stop.reason === undefined ? await runTool(runnable, scope, options) : cancelled(runnable.tool);
    return { result: cutResult(result, options.resultBytes), startedAt, endedAt: host.now() };
  } finally {
    leave?.();
  }
}

async function runTool(runnable: Runnable, scope: StepScope, options: PerformOptions): Promise<ToolResult> {
  const { tool, call, args } = runnable;
  const timeoutMs = tool.timeoutMs ?? options.toolMs;
  const own = timeoutMs === Infinity ? undefined : new AbortController();
  const context = {
    get signal() {
      return own?.signal ?? options.stop.signal;
    },
    callId: call.id,
    idempotencyKey: scope.idempotencyKey,
    progress: (value: Json) => options.progress(call.id, value),
  };
  try {
    const value = tool.execute(args, context);
    if (!isThenable(value)) return await checkResult(tool, value);
    const settled = await inTime(value, { timeoutMs, own, options });
    if (settled.type === "value") return await checkResult(tool, settled.value);
    return settled.type === "timeout" ? timedOut(tool, timeoutMs) : cancelled(tool);
  } catch (error) {
    options.onThrow(call.id, error);
    return { status: "error", text: `Tool '${tool.name}' failed: ${messageOf(error)}` };
  }
}

type Settled =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "timeout" }
  | { readonly type: "stopped" };

interface Bounds {
  readonly timeoutMs: number;
  readonly own: AbortController | undefined;
  readonly options: PerformOptions;
}

/** The first of: the tool's value, its time-out, the end of the run. The tool's signal is aborted by the latter two. */
function inTime(work: PromiseLike<unknown>, { timeoutMs, own, options }: Bounds): Promise<Settled> {
  return new Promise((resolve, reject) => {
    const stopTimer =
      timeoutMs === Infinity
        ? undefined
        : options.host.timer(timeoutMs, () =>
            end({ type: "timeout" }, new Error(`timed out after ${timeoutMs} ms`)),
          );
    const forget = options.stop.onStop(() => end({ type: "stopped" }, options.stop.signal.reason));
    function clear(): void {
      stopTimer?.();
      forget();
    }
    function end(settled: Settled, reason: unknown): void {
      clear();
      resolve(settled);
      own?.abort(reason);
    }
    work.then(
      (value) => {
        clear();
        resolve({ type: "value", value });
      },
      (error: unknown) => {
        clear();
        reject(error);
      },
    );
  });
}

async function checkResult(tool: Tool, value: unknown): Promise<ToolResult> {
  const parsed = tool.output === undefined ? undefined : tool.output.parse(value);
  const checked = parsed instanceof Promise ? await parsed : parsed;
  if (checked?.ok === false) {
    const text = `Tool '${tool.name}' failed: its result does not match its output schema`;
    return { status: "error", text: `${text}.`, note: describeIssues(checked.issues) };
  }
  const json = toJson(checked === undefined ? value : checked.value);
  if (!json.ok)
    return {
      status: "error",
      text: `Tool '${tool.name}' failed: its result is not JSON.`,
      note: json.reason,
    };
  return { status: "ok", text: resultText(json.value), value: json.value };
}

/** A text goes to the model as it is, everything else as JSON. */
function resultText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function timedOut(tool: Tool, timeoutMs: number): ToolResult {
  return { status: "timeout", text: `Tool '${tool.name}' timed out after ${timeoutMs} ms.` };
}

function cancelled(tool: Tool): ToolResult {
  return { status: "cancelled", text: `Tool '${tool.name}' was cancelled.` };
}

function cutResult(result: ToolResult, maxBytes: number): ToolResult {
  if (result.text.length * 3 <= maxBytes) return result;
  const { read, written } = new TextEncoder().encodeInto(
    result.text,
    new Uint8Array(Math.min(maxBytes, result.text.length * 3)),
  );
  if (read >= result.text.length) return result;
  const note = `[cut off: the first ${written} bytes of a longer result]`;
  return { ...result, text: `${result.text.slice(0, read)}\n${note}` };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
