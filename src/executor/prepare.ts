import type { ToolCall, ToolResult } from "../message/message.ts";
import { type AllowList, refusal } from "../policy/allow-list.ts";
import type { Decision, Policy } from "../policy/decision.ts";
import { describeIssues, type ParseResult } from "../schema/schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";

/** What stands between a proposed call and its tool. */
export interface Gate {
  readonly agent: string;
  readonly allowed: AllowList;
  readonly policy: Policy;
}

/** A call that may run, or may once a person agrees: its arguments are parsed. */
export interface Runnable {
  readonly type: "run" | "ask";
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly args: unknown;
  readonly decision: Decision;
  readonly coerced?: readonly string[];
}

/** A call that does not run: its result is there already. `unknownTool` when the allow-list does not have it. */
export interface Refused {
  readonly type: "refused";
  readonly call: ToolCall;
  readonly decision: Decision;
  readonly result: ToolResult;
  readonly unknownTool?: boolean;
}

/** A call after everything that happens before it runs. */
export type Prepared = Runnable | Refused;

/**
 * Decides about one call: allow-list, then arguments, then policy. Gives a promise only where a schema checks asynchronously. Never throws
 * for what a model wrote.
 */
export function prepare(call: ToolCall, turn: number, gate: Gate): Prepared | Promise<Prepared> {
  const tool = gate.allowed.tools.get(call.name);
  if (tool === undefined) {
    const decision = refusal(gate.allowed, call.name);
    return { ...refused(call, decision, { status: "denied", text: decision.reason }), unknownTool: true };
  }
  if (call.malformed !== undefined)
    return invalid(call, tool, `the arguments cannot be read: ${call.malformed}`);
  const parsed = tool.input.parse(call.arguments);
  if (parsed instanceof Promise) return parsed.then((result) => decide({ call, tool, turn, gate }, result));
  return decide({ call, tool, turn, gate }, parsed);
}

interface Proposal {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly turn: number;
  readonly gate: Gate;
}

function decide({ call, tool, turn, gate }: Proposal, parsed: ParseResult<unknown>): Prepared {
  if (!parsed.ok) return invalid(call, tool, describeIssues(parsed.issues));
  const decision = gate.policy({
    agent: gate.agent,
    skill: gate.allowed.skill,
    turn,
    callId: call.id,
    tool: tool.name,
    effect: tool.effect,
    arguments: call.arguments,
  });
  if (decision.verdict === "deny") {
    return refused(call, decision, {
      status: "denied",
      text: `Tool '${tool.name}' was denied: ${decision.reason}`,
      note: decision.rule,
    });
  }
  return {
    type: decision.verdict === "ask" ? "ask" : "run",
    call,
    tool,
    args: parsed.value,
    decision,
    coerced: parsed.coerced,
  };
}

/** More of a schema than this helps no model. */
const longestSchema = 2000;

function invalid(call: ToolCall, tool: Tool, problem: string): Refused {
  const schema = JSON.stringify(tool.input.jsonSchema);
  const shown = schema.length > longestSchema ? `${schema.slice(0, longestSchema)}…` : schema;
  const text = `Tool '${tool.name}' received invalid arguments: ${problem}. It did not run. The arguments must match this JSON Schema: ${shown}`;
  const decision: Decision = {
    verdict: "deny",
    rule: "arguments",
    reason: problem,
    remedy: "arguments that match the input schema",
  };
  return refused(call, decision, {
    status: "invalid",
    text,
    note: `the model sent: ${rawText(call.arguments)}`,
  });
}

function rawText(sent: Json): string {
  return typeof sent === "string" ? sent : JSON.stringify(sent);
}

function refused(call: ToolCall, decision: Decision, result: ToolResult): Refused {
  return { type: "refused", call, decision, result };
}
