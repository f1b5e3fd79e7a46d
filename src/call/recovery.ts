import { messageOf } from "../error/writ-error.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import { describeIssues } from "../schema/schema.ts";
import {
  type ArgumentFailure,
  type Escalated,
  type Fix,
  type Fixed,
  type FixerContext,
  readSeverity,
  type Recovery,
  type Repair,
  type Retry,
  type Unrecoverable,
} from "../tool/recovery.ts";
import { checkResult } from "../tool/result.ts";
import type { Tool, ToolContext } from "../tool/tool.ts";
import { assertNever } from "../util/assert-never.ts";
import { type Json, parseJson, wholeJson } from "../util/json.ts";
import type { Maybe } from "../util/maybe.ts";
import { type Fatal, fatalOf, isDelegationBound, type OngoingCall, type Settled } from "./call.ts";
import { EndKnown } from "./thrown.ts";

/** The tool, its recovery, and the functions by which the run takes part. */
interface RecoveryPlace {
  readonly tool: Tool;
  readonly recovery: Recovery;
  /** True once neither a fixer nor a tool may be run any more. */
  readonly stopped: () => boolean;
  /** The context that fixers get beside the text. */
  readonly context: FixerContext;
  /** Receives the cause of the run's error if the recovery ends the run. */
  readonly onThrow: (error: unknown) => void;
}

/** A call whose arguments are malformed or do not match the schema. */
export interface ArgumentRepair extends RecoveryPlace {
  readonly call: ToolCall;
}

/** The fate of the arguments. Plain data, since a journal keeps it. */
export type RepairedArguments =
  /** `arguments` match the schema of the tool, which has still to parse them; they were mended `rounds` times. */
  | { readonly type: "repaired"; readonly arguments: Json; readonly rounds: number }
  /** The model is told. */
  | { readonly type: "escalated"; readonly result: ToolResult }
  /** The run ends. */
  | { readonly type: "failed"; readonly result: ToolResult; readonly fatal: Fatal }
  /** The author said nothing about it, or the run was stopped meanwhile. */
  | { readonly type: "unhandled" };

/** A call whose tool threw. */
export interface ExecutionRecovery<Value> extends RecoveryPlace {
  readonly arguments: unknown;
  readonly error: unknown;
  /** Runs the tool once more. */
  readonly again: () => Promise<Value> | Value;
}

/** The fate of the call. */
export type RecoveredExecution<Value> =
  /** The value that `again` returned. */
  | { readonly type: "succeeded"; readonly value: Value }
  /** The value in place of the tool's. It must still match the tool's output schema. */
  | { readonly type: "fixed"; readonly value: Json }
  /** The model is told. */
  | { readonly type: "escalated"; readonly result: ToolResult }
  /** The run ends. */
  | { readonly type: "failed"; readonly result: ToolResult; readonly fatal: Fatal }
  /** The error stands: the author said nothing about it, it is not for a recovery, or the run was stopped meanwhile. */
  | { readonly type: "unhandled"; readonly error: unknown };

/** The most rounds of mending: a handler that keeps returning wrong arguments would be asked for ever. */
const mostRounds = 8;

/**
 * Has the arguments of a call mended. Mended arguments are read and checked like the model's own; while they are
 * still wrong they are asked about again, at most 8 times. Never throws.
 */
export async function repairArguments(options: ArgumentRepair): Promise<RepairedArguments> {
  const { call, tool, recovery, stopped } = options;
  let checked = await checkCall(call, tool);
  for (let round = 0; ; round += 1) {
    if (checked.ok) return { type: "repaired", arguments: checked.value, rounds: round };
    const { failure, raw, message } = checked;
    const problem = `Tool '${tool.name}' received invalid arguments`;
    if (round === mostRounds) {
      const reason = `argument recovery exceeded ${mostRounds} repair steps`;
      return failed("invalid", `${problem}, and ${reason}: ${message}`);
    }
    if (stopped()) return { type: "unhandled" };
    const about = { type: failure, tool: tool.name, message, schema: tool.input.jsonSchema, round };
    const decision = await decide(() => recovery.invalidArguments?.(raw, about), { input: raw }, options);
    if (decision === undefined) return { type: "unhandled" };
    if (decision.type === "fixed") {
      checked = await checkMended(decision.value, tool);
      continue;
    }
    if (decision.type === "escalated") return told("invalid", decision, { tool, message });
    if ("cause" in decision) options.onThrow(decision.cause);
    if (decision.type === "exhausted") return failed("invalid", `${problem}: ${message}`, decision.fatal);
    const reason = decision.type === "retry" ? "running it again cannot help" : decision.reason;
    return failed("invalid", `${problem} that cannot be mended: ${reason ?? message}`);
  }
}

/**
 * Does what the author says about a tool that threw. An exhausted budget, and an error that itself says that the run ends, are not for a
 * recovery: they are returned as they are, whoever threw them. Never throws.
 */
export async function recoverExecution<Value>(
  options: ExecutionRecovery<Value>,
): Promise<RecoveredExecution<Value>> {
  const { tool, recovery, error, stopped } = options;
  if (stopped() || fatalOf(error) !== undefined || isDelegationBound(error))
    return { type: "unhandled", error };
  const call = { tool: tool.name, arguments: options.arguments };
  const reading = { input: messageOf(error), asText: tool.output?.jsonSchema["type"] === "string" };
  const decision = await decide(() => recovery.executionFailed?.(error, call), reading, options);
  if (decision === undefined) return { type: "unhandled", error };
  switch (decision.type) {
    case "fixed":
      return decision;
    case "retry":
      return runAgain(decision.times, options);
    case "escalated":
      return told("error", decision, { tool, message: messageOf(error) });
    case "exhausted":
      return { type: "unhandled", error: decision.cause };
    case "unrecoverable": {
      options.onThrow(error);
      const reason = decision.reason ?? messageOf(error);
      return failed("error", `Tool '${tool.name}' failed and cannot be recovered: ${reason}`);
    }
    default:
      return assertNever(decision);
  }
}

async function runAgain<Value>(
  times: number,
  { tool, error, again, stopped, onThrow }: ExecutionRecovery<Value>,
): Promise<RecoveredExecution<Value>> {
  let last = error;
  for (let done = 0; done < times; done += 1) {
    if (stopped()) return { type: "unhandled", error: last };
    try {
      return { type: "succeeded", value: await again() };
    } catch (thrown) {
      if (fatalOf(thrown) !== undefined || isDelegationBound(thrown))
        return { type: "unhandled", error: thrown };
      last = thrown;
    }
  }
  onThrow(error);
  const count = times === 1 ? "1 retry" : `${times} retries`;
  return failed("error", `Tool '${tool.name}' failed after ${count}: ${messageOf(last)}`);
}

/** A decision of the author, or of a fixer on the author's behalf. */
type RecoveryDecision =
  | Fixed
  | Retry
  | (Escalated & { readonly by: string })
  | (Unrecoverable & { readonly cause?: unknown })
  | { readonly type: "exhausted"; readonly fatal: Fatal; readonly cause: unknown };

/** The default input of a fixer. With `asText` its answer stays text even if it is JSON. */
interface FixerInput {
  readonly input: string;
  readonly asText?: boolean;
}

/** Asks a handler, and the fixer that it names. Undefined: the handler said nothing, or the run was stopped. */
async function decide(
  ask: () => Repair | undefined | Promise<Repair | undefined>,
  reading: FixerInput,
  around: RecoveryPlace,
): Promise<RecoveryDecision | undefined> {
  const by = "its recovery";
  try {
    const repair = (await ask()) ?? undefined;
    if (repair === undefined) return undefined;
    switch (repair.type) {
      case "fixed":
        return { type: "fixed", value: repair.value ?? null };
      case "retry":
      case "unrecoverable":
        return repair;
      case "escalated":
        return { ...repair, by };
      case "fix":
        return await askFixer(repair, reading, around);
      default:
        throw new TypeError("it gave something else than fixed, retry, fix, escalated or unrecoverable");
    }
  } catch (cause) {
    return (
      decisionOf(cause, by) ?? { type: "unrecoverable", reason: `${by} failed: ${messageOf(cause)}`, cause }
    );
  }
}

/** The decision behind an error that was thrown on purpose, or because a budget ran out. */
function decisionOf(cause: unknown, by: string): RecoveryDecision | undefined {
  const fatal = fatalOf(cause);
  if (fatal === undefined) return undefined;
  if (fatal.type === "exhausted") return { type: "exhausted", fatal, cause };
  const { reason, severity } = fatal;
  return fatal.code === "tool-escalated"
    ? { type: "escalated", reason, severity: readSeverity(severity), by }
    : { type: "unrecoverable", reason, cause };
}

async function askFixer(
  { fixer, attempts, input }: Fix,
  reading: FixerInput,
  { stopped, context }: RecoveryPlace,
): Promise<RecoveryDecision | undefined> {
  const name = fixer.name || "fixer";
  let cause: unknown;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    if (stopped()) return undefined;
    try {
      const answer = await fixer(input ?? reading.input, context);
      return { type: "fixed", value: readAnswer(answer, reading) };
    } catch (thrown) {
      const decision = decisionOf(thrown, `'${name}' at attempt ${attempt}`);
      if (decision !== undefined) return decision;
      cause = thrown;
    }
  }
  const count = attempts === 1 ? "once" : `${attempts} times`;
  return { type: "unrecoverable", reason: `the fixer '${name}' failed ${count}: ${messageOf(cause)}`, cause };
}

/** The answer of a fixer: a plain JavaScript function, or an agent with an output schema, may return a value rather than a text. */
function readAnswer(answer: unknown, { asText = false }: FixerInput): Json {
  if (answer === undefined) throw new TypeError("it gave nothing");
  const read = typeof answer === "string" && !asText ? parseJson(answer) : wholeJson(answer);
  if (read.ok) return read.value;
  if (typeof answer === "string") return answer;
  throw new TypeError(`its answer is not JSON: ${read.reason}`);
}

/** Arguments that match, or their fault. */
type CheckedArguments =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly failure: ArgumentFailure["type"];
      readonly raw: string;
      readonly message: string;
    };

function checkCall(call: ToolCall, tool: Tool): CheckedArguments | Promise<CheckedArguments> {
  if (call.malformed === undefined) return checkValue(call.arguments, tool);
  const raw = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  return { ok: false, failure: "unreadable", raw, message: call.malformed };
}

function checkMended(mended: Json, tool: Tool): CheckedArguments | Promise<CheckedArguments> {
  if (typeof mended !== "string") return checkValue(mended, tool);
  const parsed = parseJson(mended);
  if (parsed.ok) return checkValue(parsed.value, tool);
  return {
    ok: false,
    failure: "unreadable",
    raw: mended,
    message: `they are not valid JSON: ${parsed.reason}`,
  };
}

async function checkValue(value: Json, tool: Tool): Promise<CheckedArguments> {
  const parsed = await tool.input.parse(value);
  if (parsed.ok) return { ok: true, value };
  return {
    ok: false,
    failure: "mismatch",
    raw: JSON.stringify(value),
    message: describeIssues(parsed.issues),
  };
}

/** The result that tells the model of an escalated failure. The model may try again. */
function told(
  status: "invalid" | "error",
  { reason, severity, by }: Escalated & { readonly by: string },
  { tool, message }: { readonly tool: Tool; readonly message: string },
): { readonly type: "escalated"; readonly result: ToolResult } {
  const text = `ERROR: Tool '${tool.name}' failed: ${reason} (severity: ${severity}). Please retry with corrected arguments.`;
  return { type: "escalated", result: { status, text, note: `escalated by ${by}; what failed: ${message}` } };
}

function failed(
  status: "invalid" | "error",
  text: string,
  fatal: Fatal = { type: "failed", code: "tool-failed", reason: text },
): { readonly type: "failed"; readonly result: ToolResult; readonly fatal: Fatal } {
  return { type: "failed", result: { status, text }, fatal };
}

/** A call that is being carried out, and the means to run its tool. */
interface RunningTool {
  readonly work: OngoingCall;
  readonly context: ToolContext;
  readonly recovery: Recovery;
  /** Runs the tool once. */
  readonly again: () => Maybe<Settled>;
}

/** Runs the tool; if it throws, does what the author says about that. */
export async function runWithRecovery({ work, context, recovery, again }: RunningTool): Promise<Settled> {
  const { tool, args, call } = work.ready;
  const { stop, onThrow } = work.at.batch.run;
  const isOver = (): boolean =>
    stop.reason !== undefined || work.time?.isOver === true || context.signal.aborted;
  try {
    return await again();
  } catch (error) {
    if (error instanceof EndKnown) throw error;
    work.threw = true;
    const recovered = await recoverExecution({
      tool,
      recovery,
      arguments: args,
      error,
      again,
      stopped: () => isOver() || work.scope?.hasLostJournal === true,
      context: { signal: context.signal, parent: context.run },
      onThrow: (thrown) => onThrow(call.id, thrown),
    });
    switch (recovered.type) {
      case "unhandled":
        throw recovered.error;
      case "succeeded":
        return recovered.value;
      case "fixed":
        work.isMended = true;
        return await checkResult(tool, recovered.value);
      case "escalated":
        return { result: recovered.result, escalated: true };
      case "failed":
        return { result: recovered.result, fatal: recovered.fatal };
      default:
        return assertNever(recovered);
    }
  }
}
