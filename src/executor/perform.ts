import { messageOf } from "../error/writ-error.ts";
import { askHooks } from "../hook/run-hooks.ts";
import type { ToolResult } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import { describeIssues, type ParseResult } from "../schema/schema.ts";
import { isBuiltin } from "../tool/builtins.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { Recovery } from "../tool/recovery.ts";
import type { Tool, ToolContext } from "../tool/tool.ts";
import { untilStopped } from "../util/interrupt.ts";
import { type Json, toJson } from "../util/json.ts";
import { sameJson } from "../util/same-json.ts";
import { type Fatal, fatalOf } from "./fatal.ts";
import type { Gate } from "./gate.ts";
import type { ExecuteOptions } from "./options.ts";
import type { Runnable } from "./prepare.ts";
import { recoverExecution } from "./recover.ts";
import { type Inside, openCallScope, type OpenScope } from "./scope.ts";

/** What the journal keeps of one call. Times are milliseconds since 1970. */
export interface CallRecord {
  readonly result: ToolResult;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The call ends the run. */
  readonly fatal?: Fatal;
  /** The author's recovery chose to tell the model: the failure ends no run. */
  readonly escalated?: boolean;
  /** The runs inside the call. */
  readonly inside?: Inside;
  /** The hooks that changed its result. */
  readonly by?: Readonly<Record<string, string>>;
}

/** The turn that a call stands in. */
interface Turn {
  readonly turn: number;
  readonly gate: Gate;
  readonly transcript: ReadyTranscript;
}

/** What a call needs of its run and its turn. */
export interface PerformOptions extends Turn {
  readonly run: ExecuteOptions;
}

/** What the calls of a turn are performed with. */
export function performOptions(run: ExecuteOptions, { turn, gate, transcript }: Turn): PerformOptions {
  return { run, turn, gate, transcript };
}

/** How a call ended; what it threw is kept until the author's rules for failures were asked. */
type Settled = Pick<CallRecord, "result" | "fatal" | "escalated">;

/** The same after the hooks. */
type Ended = Settled & Pick<CallRecord, "by">;

/**
 * Runs one call: waits for its slot, runs the tool within its time, checks the result. Never throws: every end is a result. A value that
 * comes after the time-out or after the run was stopped is ignored. `key` is the place of the call in its run.
 */
export async function perform(runnable: Runnable, key: string, options: PerformOptions): Promise<CallRecord> {
  const { host, stop, slots, limits } = options.run;
  const { tool, args } = runnable;
  const work: Work = { runnable, key };
  let leave: (() => void) | undefined;
  let startedAt = host.now();
  let settled: Settled;
  try {
    leave = await slots.enter(tool.exclusiveKey(args));
    startedAt = host.now();
    settled =
      stop.reason === undefined ? await runTool(work, options) : { result: cancelledResult(tool.name) };
  } catch (error) {
    settled = thrownResult(runnable, error, options);
  } finally {
    leave?.();
  }
  const inside = work.scope === undefined ? undefined : await work.scope.close();
  const ended: Ended =
    options.run.hooks.afterToolCall === undefined
      ? settled
      : { ...settled, ...(await askAfter(runnable, settled.result, options)) };
  const result = cutResult(ended.result, limits.resultBytes);
  const record = { ...ended, result, startedAt, endedAt: host.now() };
  return inside === undefined ? record : { ...record, inside };
}

/** A call that is being carried out. */
interface Work {
  readonly runnable: Runnable;
  readonly key: string;
  /** What the tool sees of its run; made when it looks. */
  scope?: OpenScope;
}

function scopeOfCall(work: Work, { run, ...place }: PerformOptions): CallScope {
  const { key, runnable } = work;
  work.scope ??= openCallScope({ callId: runnable.call.id, key, ...place }, run);
  return work.scope.run;
}

function thrownResult({ call, tool }: Runnable, error: unknown, { run }: PerformOptions): Settled {
  run.onThrow(call.id, error);
  const result: ToolResult = { status: "error", text: `Tool '${tool.name}' failed: ${messageOf(error)}` };
  const fatal = fatalOf(error);
  // Escalating is for fixers to say; what an agent inside a tool escalates is a failure of that tool.
  const isSoft = fatal?.type === "failed" && fatal.code === "tool-escalated" && !isBuiltin(tool);
  return fatal === undefined || isSoft ? { result } : { result, fatal };
}

/** What the hooks make of a result. Part of the call's own step: at a replay they are not asked. A hook that fails makes the call fail. */
async function askAfter(
  { call }: Runnable,
  result: ToolResult,
  { run, turn }: PerformOptions,
): Promise<Pick<CallRecord, "result" | "by">> {
  const { id: callId, name: tool } = call;
  const at = { turn, callId, tool, arguments: call.arguments, result };
  const asking = askHooks(run.hooks.afterToolCall ?? [], "afterToolCall", at);
  try {
    const outcome = await untilStopped(asking, run.stop);
    if (outcome === "stopped" || outcome.answer.result === undefined) return { result };
    return { result: withoutOldValue(outcome.answer.result, result), by: outcome.by };
  } catch (error) {
    run.onThrow(callId, error);
    return { result: { status: "error", text: `Tool '${tool}' failed: ${messageOf(error)}` } };
  }
}

/** A hook that changed the text alone has masked something: the value behind it must not stay. */
function withoutOldValue(changed: ToolResult, before: ToolResult): ToolResult {
  const { value, ...rest } = changed;
  const isOld = value !== undefined && before.value !== undefined && sameJson(value, before.value);
  return isOld && changed.text !== before.text ? rest : changed;
}

/** Checking the result is part of the tool's time, and so is mending a failure: an output schema can be slow too. */
async function runTool(work: Work, options: PerformOptions): Promise<Settled> {
  const { runnable, key } = work;
  const { tool, call, args } = runnable;
  const { run, turn } = options;
  const timeoutMs = tool.timeoutMs ?? run.limits.toolMs;
  const own = timeoutMs === Infinity ? undefined : new AbortController();
  const deadline = timeoutMs === Infinity ? Infinity : run.host.now() + timeoutMs;
  const context: ToolContext = {
    get signal() {
      return own?.signal ?? run.stop.signal;
    },
    callId: call.id,
    idempotencyKey: `${run.runId}/${key}`,
    progress: (value: Json) => run.tell?.({ type: "tool-progress", turn, callId: call.id, value }),
    get call() {
      return structuredClone(call);
    },
    get run() {
      return scopeOfCall(work, options);
    },
  };
  const recovery = run.recoveryOf(tool);
  const settling =
    recovery?.executionFailed === undefined
      ? attempt(tool, args, context)
      : attemptWithRecovery({ work, context, recovery, deadline }, options);
  const settled = settling instanceof Promise ? await inTime(settling, { timeoutMs, own, run }) : settling;
  if (settled === "stopped") return { result: cancelledResult(tool.name) };
  const late = deadline !== Infinity && run.host.now() > deadline; // also when the tool held up the thread
  return settled === "timeout" || late ? { result: timedOut(tool, timeoutMs) } : settled;
}

/** Runs the tool once. Throws what it throws. */
function attempt(tool: Tool, args: unknown, context: ToolContext): Settled | Promise<Settled> {
  const value = tool.execute(args, context);
  return isThenable(value)
    ? Promise.resolve(value).then((late) => checkResult(tool, late))
    : checkResult(tool, value);
}

interface Bounds {
  readonly timeoutMs: number;
  readonly own: AbortController | undefined;
  readonly run: ExecuteOptions;
}

/** The first of: the tool's result, its time-out, the end of the run. The tool's signal is aborted by the latter two. */
function inTime(
  work: Promise<Settled>,
  { timeoutMs, own, run }: Bounds,
): Promise<Settled | "timeout" | "stopped"> {
  const { promise, resolve, reject } = Promise.withResolvers<Settled | "timeout" | "stopped">();
  const undo: (() => void)[] = [];
  function end(settled: Settled | "timeout" | "stopped"): void {
    for (const each of undo) each();
    resolve(settled);
  }
  work.then(end, (error: unknown) => {
    for (const each of undo) each();
    reject(error);
  });
  if (timeoutMs !== Infinity) {
    const stopTimer = run.host.timer(timeoutMs, () => {
      end("timeout");
      own?.abort(new Error(`timed out after ${timeoutMs} ms`));
    });
    undo.push(stopTimer);
  }
  const forget = run.stop.onStop(() => {
    end("stopped");
    own?.abort(run.stop.signal.reason);
  });
  undo.push(forget);
  return promise;
}

interface Recovering {
  readonly work: Work;
  readonly context: ToolContext;
  readonly recovery: Recovery;
  /** When the tool's time is over, in milliseconds since 1970. */
  readonly deadline: number;
}

/** Runs the tool; when it throws, does what the author says about that. */
async function attemptWithRecovery(
  { work, context, recovery, deadline }: Recovering,
  options: PerformOptions,
): Promise<Settled> {
  const { tool, args, call } = work.runnable;
  const { stop, onThrow, host } = options.run;
  const again = (): Settled | Promise<Settled> => attempt(tool, args, context);
  try {
    return await again();
  } catch (error) {
    const recovered = await recoverExecution({
      tool,
      recovery,
      arguments: args,
      error,
      again,
      stopped: () => stop.reason !== undefined || host.now() > deadline || context.signal.aborted,
      context: { signal: context.signal, parent: context.run },
      onThrow: (thrown) => onThrow(call.id, thrown),
    });
    if (recovered.type === "unhandled") throw recovered.error;
    if (recovered.type === "succeeded") return recovered.value;
    if (recovered.type === "fixed") return await checkResult(tool, recovered.value);
    const { result } = recovered;
    return recovered.type === "failed" ? { result, fatal: recovered.fatal } : { result, escalated: true };
  }
}

function checkResult(tool: Tool, value: unknown): Settled | Promise<Settled> {
  const parsed = tool.output?.parse(value);
  if (parsed instanceof Promise)
    return parsed.then((checked) => ({ result: resultOf(tool, value, checked) }));
  return { result: resultOf(tool, value, parsed) };
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
export function resultText(value: Json): string {
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
