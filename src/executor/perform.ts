import { messageOf } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { ToolResult } from "../message/message.ts";
import { describeIssues, type ParseResult } from "../schema/schema.ts";
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
  readonly runId: string;
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
  { runId, host, stop, slots, onThrow, limits, tell }: ExecuteOptions,
  turn: number,
): PerformOptions {
  const progress = (callId: string, value: Json): void =>
    tell?.({ type: "tool-progress", turn, callId, value });
  return {
    runId,
    host,
    stop,
    slots,
    onThrow,
    progress,
    toolMs: limits.toolMs,
    resultBytes: limits.resultBytes,
  };
}

/**
 * Runs one call: waits for its slot, runs the tool within its time, checks the result. Never throws: every end is a result. A value that
 * comes after the time-out or after the run was stopped is ignored. `key` is the place of the call in its run.
 */
export async function perform(runnable: Runnable, key: string, options: PerformOptions): Promise<CallRecord> {
  const { host, stop, slots, resultBytes } = options;
  const { tool, args, call } = runnable;
  let leave: (() => void) | undefined;
  let startedAt = host.now();
  let result: ToolResult;
  try {
    leave = await slots.enter(tool.exclusiveKey(args));
    startedAt = host.now();
    result = stop.reason === undefined ? await runTool(runnable, key, options) : cancelledResult(tool.name);
  } catch (error) {
    options.onThrow(call.id, error);
    result = { status: "error", text: `Tool '${tool.name}' failed: ${messageOf(error)}` };
  } finally {
    leave?.();
  }
  return { result: cutResult(result, resultBytes), startedAt, endedAt: host.now() };
}

/** Checking the result is part of the tool's time: an output schema can be slow too. */
async function runTool(
  { tool, call, args }: Runnable,
  key: string,
  options: PerformOptions,
): Promise<ToolResult> {
  const timeoutMs = tool.timeoutMs ?? options.toolMs;
  const own = timeoutMs === Infinity ? undefined : new AbortController();
  const deadline = timeoutMs === Infinity ? Infinity : options.host.now() + timeoutMs;
  const context = {
    get signal() {
      return own?.signal ?? options.stop.signal;
    },
    callId: call.id,
    idempotencyKey: `${options.runId}/${key}`,
    progress: (value: Json) => options.progress(call.id, value),
  };
  const value = tool.execute(args, context);
  const work = isThenable(value)
    ? Promise.resolve(value).then((late) => checkResult(tool, late))
    : checkResult(tool, value);
  const settled = work instanceof Promise ? await inTime(work, { timeoutMs, own, options }) : work;
  if (settled === "stopped") return cancelledResult(tool.name);
  const late = deadline !== Infinity && options.host.now() > deadline; // also when the tool held up the thread
  return settled === "timeout" || late ? timedOut(tool, timeoutMs) : settled;
}

interface Bounds {
  readonly timeoutMs: number;
  readonly own: AbortController | undefined;
  readonly options: PerformOptions;
}

/** The first of: the tool's result, its time-out, the end of the run. The tool's signal is aborted by the latter two. */
function inTime(
  work: Promise<ToolResult>,
  { timeoutMs, own, options }: Bounds,
): Promise<ToolResult | "timeout" | "stopped"> {
  const { promise, resolve, reject } = Promise.withResolvers<ToolResult | "timeout" | "stopped">();
  const undo: (() => void)[] = [];
  function end(settled: ToolResult | "timeout" | "stopped"): void {
    for (const each of undo) each();
    resolve(settled);
  }
  work.then(end, (error: unknown) => {
    for (const each of undo) each();
    reject(error);
  });
  if (timeoutMs !== Infinity) {
    const stopTimer = options.host.timer(timeoutMs, () => {
      end("timeout");
      own?.abort(new Error(`timed out after ${timeoutMs} ms`));
    });
    undo.push(stopTimer);
  }
  const forget = options.stop.onStop(() => {
    end("stopped");
    own?.abort(options.stop.signal.reason);
  });
  undo.push(forget);
  return promise;
}

function checkResult(tool: Tool, value: unknown): ToolResult | Promise<ToolResult> {
  const parsed = tool.output?.parse(value);
  if (parsed instanceof Promise) return parsed.then((checked) => resultOf(tool, value, checked));
  return resultOf(tool, value, parsed);
}

function resultOf(tool: Tool, value: unknown, checked: ParseResult<unknown> | undefined): ToolResult {
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

/** The result of a call that the end of the run stopped. */
export function cancelledResult(name: string): ToolResult {
  return { status: "cancelled", text: `Tool '${name}' was cancelled.` };
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
