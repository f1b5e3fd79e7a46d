import { causesOf } from "../error/causes.ts";
import { isWritError, messageOf } from "../error/writ-error.ts";
import { askHooks } from "../hook/run-hooks.ts";
import type { ToolResult } from "../message/message.ts";
import { trustedLabel, untrustedFrom } from "../message/label.ts";
import { describeIssues, type ParseResult } from "../schema/schema.ts";
import { isBuiltin } from "../tool/builtins.ts";
import type { AccessRecord } from "../tool/handles.ts";
import { Labelled } from "../tool/labelled.ts";
import type { Recovery } from "../tool/recovery.ts";
import type { Tool, ToolContext } from "../tool/tool.ts";
import { untilStopped } from "../util/interrupt.ts";
import { type Json, toJson } from "../util/json.ts";
import { sameJson } from "../util/same-json.ts";
import { within } from "../run/powers.ts";
import { type Fatal, fatalOf } from "./fatal.ts";
import { finishResult } from "./settle.ts";
import { inTime } from "./in-time.ts";
import type { ExecuteOptions } from "../run/context.ts";
import { haltedBy, skippedResult } from "./order.ts";
import type { Runnable } from "./judge.ts";
import { recoverExecution } from "./recovery.ts";
import type { Inside } from "../run/scope.ts";
import {
  addHandles,
  closeScope,
  type PerformOptions,
  scopeOfCall,
  type Turn,
  type Work,
  workOf,
} from "./work.ts";
import { errorWithoutSecrets, progressWithoutSecrets, withoutSecrets } from "../run/secrets.ts";

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
  /** What it looked at of the world, and whether it might. */
  readonly access?: readonly AccessRecord[];
}

/** What the calls of a turn are performed with. */
export function performOptions(
  run: ExecuteOptions,
  { turn, gate, transcript, learned }: Turn,
): PerformOptions {
  return { run, turn, gate, transcript, learned, halt: {} };
}

/** How a call ended; what it threw is kept until the author's rules for failures were asked. */
type Settled = Pick<CallRecord, "result" | "fatal" | "escalated">;

/** The same after the hooks. */
type Ended = Settled & Pick<CallRecord, "by">;

/**
 * Runs one call: waits for its slot, runs the tool within its time, checks the result. Every end is a result. A value that comes after the
 * time-out or after the run was stopped is ignored. `key` is the place of the call in its run.
 *
 * @throws only the error of a journal that failed inside the call: then it has no result
 */
export async function perform(runnable: Runnable, key: string, options: PerformOptions): Promise<CallRecord> {
  const { run, halt } = options;
  const slot: Slot = {};
  try {
    const record = await carryOut(workOf(runnable, key, options), slot, options);
    halt.reason ??= haltedBy(record, run);
    return record;
  } catch (error) {
    halt.lost ??= { error };
    throw error;
  } finally {
    slot.leave?.();
  }
}

/** A call's turn; there is nothing to leave before it has one, nor where nobody waits. */
interface Slot {
  leave?: () => void;
}

async function carryOut(work: Work, slot: Slot, options: PerformOptions): Promise<CallRecord> {
  const { host, slots } = options.run;
  const { runnable } = work;
  const { tool, args, call } = runnable;
  let startedAt = host.now();
  let settled: Settled;
  try {
    slot.leave = await slots.enter(tool.exclusiveKey(args));
    startedAt = host.now();
    settled = notBegun(tool, options) ?? (await runTool(work, options));
  } catch (error) {
    settled = thrownResult(runnable, error, options);
  }
  work.end();
  work.powers?.close();
  const inside = await closeScope(work);
  settled = withoutSecrets(settled, host);
  const ended: Ended =
    options.run.hooks.afterToolCall === undefined
      ? settled
      : { ...settled, ...(await askAfter(runnable, settled.result, options)) };
  const isFresh = tool.isFresh === true && work.isMended !== true && ended.by === undefined;
  const origin = {
    tool,
    arguments: call.arguments,
    said: withoutSecrets(work.label, host),
    inside: work.around.seen,
    isFresh,
  };
  const result = finishResult(ended.result, origin, options);
  const access = work.powers?.access ?? [];
  const record = { ...ended, result, startedAt, endedAt: host.now() };
  return {
    ...record,
    ...(inside === undefined ? {} : { inside }),
    ...(access.length === 0 ? {} : { access }),
  };
}

/** The end of a call that cannot begin any more, now that it is its turn. */
function notBegun({ name }: Tool, { run, halt }: PerformOptions): Settled | undefined {
  if (run.stop.reason !== undefined) return { result: cancelledResult(name) };
  return halt.reason === undefined ? undefined : { result: skippedResult(halt.reason) };
}

function thrownResult({ call, tool }: Runnable, error: unknown, { run }: PerformOptions): Settled {
  run.onThrow(call.id, error);
  const denied = capabilityDenied(error);
  if (denied !== undefined)
    return {
      result: {
        status: "denied",
        text: `Tool '${tool.name}' was denied: ${denied}`,
        note: "capability",
        label: untrustedFrom(`tool/${tool.name}`), // what was to be reached may have been chosen by a stranger
      },
    };
  const result: ToolResult = { status: "error", text: `Tool '${tool.name}' failed: ${messageOf(error)}` };
  const fatal = fatalOf(error);
  // Escalating is for fixers to say; what an agent inside a tool escalates is a failure of that tool.
  const isSoft = fatal?.type === "failed" && fatal.code === "tool-escalated" && !isBuiltin(tool);
  return fatal === undefined || isSoft ? { result } : { result, fatal };
}

/** Says which capability was missing, if that is why a tool failed; looks into causes, since code between wraps what it catches. */
function capabilityDenied(thrown: unknown): string | undefined {
  return causesOf(thrown).find((error) => isWritError(error, "capability-denied"))?.message;
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
  const { tool, call } = runnable;
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
    progress: (value: Json) =>
      run.tell?.({
        type: "tool-progress",
        turn,
        callId: call.id,
        value: progressWithoutSecrets(value, run.host),
      }),
    get call() {
      return structuredClone(call);
    },
    get run() {
      return scopeOfCall(work, options);
    },
    label: options.learned.label,
  };
  if (tool.needs !== undefined && tool.needs.length > 0) addHandles(context, { work, options });
  const recovery = run.recoveryOf(tool);
  const settling =
    recovery?.executionFailed === undefined
      ? attempt(work, context, run)
      : attemptWithRecovery({ work, context, recovery, deadline }, options);
  const settled = settling instanceof Promise ? await inTime(settling, { timeoutMs, own, run }) : settling;
  if (settled === "stopped") return { result: overtaken(tool, cancelledResult(tool.name)) };
  const late = deadline !== Infinity && run.host.now() > deadline; // also when the tool held up the thread
  return settled === "timeout" || late ? { result: overtaken(tool, timedOut(tool, timeoutMs)) } : settled;
}

/** Runs the tool once. Throws what it throws, but for secrets: recoveries, fixers and the run's own error are told of it. */
function attempt(work: Work, context: ToolContext, { host }: ExecuteOptions): Settled | Promise<Settled> {
  const { tool, args } = work.runnable;
  const failed = (error: unknown): never => {
    throw errorWithoutSecrets(error, host) as Error;
  };
  try {
    const value = within(host, work.within, () => tool.execute(args, context));
    const settled = isThenable(value)
      ? Promise.resolve(value).then((late) => checkResult(tool, unlabelled(work, late)))
      : checkResult(tool, unlabelled(work, value));
    return settled instanceof Promise ? settled.catch(failed) : settled;
  } catch (error) {
    return failed(error);
  }
}

/** Takes a value out of the label that the tool gave it. */
function unlabelled(work: Work, value: unknown): unknown {
  if (!(value instanceof Labelled)) return value;
  work.label = value.label;
  return value.value;
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
  const again = (): Settled | Promise<Settled> => attempt(work, context, options.run);
  try {
    return await again();
  } catch (error) {
    work.threw = true;
    const recovered = await recoverExecution({
      tool,
      recovery,
      arguments: args,
      error,
      again,
      stopped: () =>
        stop.reason !== undefined ||
        host.now() > deadline ||
        context.signal.aborted ||
        work.scope?.hasLostJournal() === true,
      context: { signal: context.signal, parent: context.run },
      onThrow: (thrown) => onThrow(call.id, thrown),
    });
    if (recovered.type === "unhandled") throw recovered.error;
    if (recovered.type === "succeeded") return recovered.value;
    if (recovered.type === "fixed") {
      work.isMended = true;
      return await checkResult(tool, recovered.value);
    }
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
    return { status: "error", text: `${text}.`, note: describeIssues(checked.issues), label: trustedLabel };
  }
  const json = toJson(checked === undefined ? value : checked.value);
  if (!json.ok)
    return {
      status: "error",
      text: `Tool '${tool.name}' failed: its result is not JSON.`,
      note: json.reason,
      label: trustedLabel,
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

/** The result of a call that was at work when its end came: of a tool that changes something nobody knows whether it did. */
function overtaken({ effect }: Tool, result: ToolResult): ToolResult {
  if (effect !== "write" && effect !== "irreversible") return result;
  const { text } = result;
  return { status: "unknown", text: `${text} It was at work by then: its effect may have happened.` };
}

/** The result of a call that the end of the run stopped. */
export function cancelledResult(name: string): ToolResult {
  return { status: "cancelled", text: `Tool '${name}' was cancelled.` };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
