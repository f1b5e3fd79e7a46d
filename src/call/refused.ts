import { asSentence } from "../util/as-sentence.ts";
import { toJson } from "../util/json.ts";
import { kindOf } from "../util/shape.ts";
import type { Warning } from "../journal/host.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import type { CallRequest, Decision } from "../policy/decision.ts";
import type { RunContext } from "../run/context.ts";
import type { Issue } from "../schema/schema.ts";
import type { Tool } from "../tool/tool.ts";
import { wrongArguments } from "../tool/wrong-values.ts";
import type { CallRecord, Refused } from "./call.ts";

/** A call that does not run, by a decision. */
export function refused(call: ToolCall, decision: Decision, result: ToolResult): Refused {
  return { type: "refused", call, decision, result };
}

/** A call that a decision denied. */
export function deniedBy(decision: Decision, call: ToolCall): Refused {
  const text = `Tool '${call.name}' was denied: ${decision.reason}`;
  return refused(call, decision, { status: "denied", text, note: decision.rule });
}

/** A call that a rule, a hook or the runtime denied. */
export function denied(call: ToolCall, rule: string, reason: string): Refused {
  return deniedBy({ verdict: "deny", rule, reason }, call);
}

/** The result of a call that a person denied. */
export function deniedByPerson(
  { name }: ToolCall,
  { reason = "a person said no" }: { readonly reason?: string },
): ToolResult {
  return { status: "denied", text: `Tool '${name}' was denied: ${reason}` };
}

/** A call that does not run because of what came before it. */
export function skipped(call: ToolCall, reason: string): Refused {
  return { type: "refused", call, result: skippedResult(reason) };
}

/** A call that was cancelled by the end of the run before it began. */
export function cancelled(call: ToolCall): Refused {
  return { type: "refused", call, result: cancelledResult(call.name) };
}

/** The result of a call that does not run because of what came before it. */
export function skippedResult(reason: string): ToolResult {
  return { status: "skipped", text: `Not run: ${asSentence(reason)}` };
}

/** The result of a call that the end of the run stopped. */
export function cancelledResult(name: string): ToolResult {
  return { status: "cancelled", text: `Tool '${name}' was cancelled.` };
}

/** The result of a call that was running when its end came: if it changes something, nobody knows whether it did. */
export function overtakenResult(tool: Pick<Tool, "effect">, result: ToolResult, changed = false): ToolResult {
  if (tool.effect !== "write" && tool.effect !== "irreversible" && !changed) return result;
  const { text } = result;
  return { status: "unknown", text: `${text} It was at work by then: its effect may have happened.` };
}

/** The result of a call that was running when its run could not go on. */
export const unfinishedResult: ToolResult = {
  status: "unknown",
  text: "Not known: the run ended while the call was carried out.",
};

/**
 * The record of a call that has none in this process when its run cannot go on: the record of an earlier process, if there is one. In a run that was stopped
 * the call is not called skipped: an earlier process may have made it without a record.
 */
export function brokenRecord(
  { key, name }: { readonly key: string; readonly name: string },
  { journal, stop }: Pick<RunContext, "journal" | "stop">,
  hasBegun: boolean,
): CallRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call of this key wrote it
  const kept = journal.find?.(key) as CallRecord | undefined;
  if (kept !== undefined) return kept;
  const isOpen = hasBegun || journal.hasBegun?.(key) === true;
  const notMade =
    stop.reason === undefined ? skippedResult("the run ended before it") : cancelledResult(name);
  return { result: isOpen ? unfinishedResult : notMade, startedAt: 0, endedAt: 0 };
}

/** The result of a call that the run lost track of. */
export const lostResult: ToolResult = { status: "unknown", text: "No result." };

/** The fault of arguments in words, and the places that do not fit; no places for arguments that are not JSON. */
interface WrongInput {
  readonly problem: string;
  readonly issues?: readonly Issue[];
}

/** A call with arguments that its tool cannot take. */
export function invalid(call: ToolCall, tool: Tool, { problem, issues = [] }: WrongInput): Refused {
  const decision: Decision = {
    verdict: "deny",
    rule: "arguments",
    reason: problem,
    remedy: "arguments that match the input schema",
  };
  const text = wrongArguments(tool, problem);
  const result: ToolResult = { status: "invalid", text, note: `the model sent: ${rawArguments(call)}` };
  return { ...refused(call, decision, result), wrong: { tool, problem, issues } };
}

/** The refusal of arguments that a person wrote: it does not say that they are the model's. */
export function writtenByPerson(fate: Refused): Refused {
  if (fate.wrong === undefined) return fate;
  const { tool, problem } = fate.wrong;
  const text = `Tool '${tool.name}' did not run: a person approved it with other arguments, and they do not match its input schema: ${asSentence(problem)}`;
  return {
    ...fate,
    result: { status: "invalid", text, note: `the person sent: ${rawArguments(fate.call)}` },
  };
}

/** The arguments as the model wrote them, as far as they are known. */
function rawArguments({ arguments: sent }: ToolCall): string {
  if (typeof sent === "string") return sent;
  const json = toJson(sent); // a program may have given what JSON has no word for
  return json.ok ? JSON.stringify(json.value) : kindOf(sent);
}

/** The warning of a broken policy. Each denial tells the model; this tells the author. */
export function brokenPolicy({ agent, tool }: CallRequest, { reason }: Decision): Warning {
  const text = `Agent "${agent}" was denied the call of "${tool}": ${reason}`;
  return { code: "WRIT_POLICY_FAILED", text, isDeprecation: false };
}

/** The warning of an undeclared effect, which spares a question: the author has to know that. */
export function unguarded({ agent, tool }: CallRequest): Warning {
  const text = `Agent "${agent}" ran "${tool}", which declares no effect, after it had read data of strangers, and nobody was asked. Declare it: \`effect: "none"\` or \`"read"\` for a tool that changes nothing, else \`"write"\` or \`"irreversible"\`, for which a person is asked.`;
  return { code: "WRIT_EFFECT_UNDECLARED", text, isDeprecation: false };
}
