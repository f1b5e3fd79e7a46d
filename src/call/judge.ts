import { messageOf } from "../error/writ-error.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import { refusal } from "../policy/allow-list.ts";
import type { ToolUse } from "../policy/constraints.ts";
import type { CallRequest, Decision, Policy } from "../policy/decision.ts";
import { knowing, type Learned } from "../policy/learned.ts";
import { describeIssues, type Issue, type ParseResult } from "../schema/schema.ts";
import { propertyNames } from "../schema/property-names.ts";
import type { Tool } from "../tool/tool.ts";
import { isJsonObject, type Json } from "../util/json.ts";
import { plainJson } from "../util/plain-json.ts";
import { type Gate, judgeOf } from "../run/gate.ts";

/** A call that may run, or may once a person agrees: its arguments are parsed. */
export interface Runnable {
  readonly type: "run" | "ask";
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly args: unknown;
  readonly decision: Decision;
  /** The call as policy and people are asked about it. */
  readonly request: CallRequest;
  readonly coerced?: readonly string[];
}

/** A call that does not run: its result is there already. */
export interface Refused {
  readonly type: "refused";
  readonly call: ToolCall;
  readonly decision: Decision;
  readonly result: ToolResult;
  /** The allow-list does not have its tool. */
  readonly unknownTool?: boolean;
  /** What is wrong with its arguments, and the tool that would have run. */
  readonly wrong?: { readonly tool: Tool; readonly problem: string };
}

/** Where a call is judged. */
export interface Judging {
  readonly turn: number;
  readonly gate: Gate;
  readonly learned: Learned;
  /** What was done with tools that are counted, before this call. */
  readonly uses?: readonly ToolUse[];
}

/** A call after everything that happens before it runs. */
export type Prepared = Runnable | Refused;

/**
 * Decides about one call: allow-list, then arguments, then policy. Gives a promise only where a schema checks asynchronously. Never throws
 * for what a model wrote.
 */
export function prepare(call: ToolCall, at: Judging): Prepared | Promise<Prepared> {
  const { gate } = at;
  const tool = gate.allowed.tools.get(call.name);
  if (tool === undefined) {
    const decision = refusal(gate.allowed, call.name);
    return { ...refused(call, decision, { status: "denied", text: decision.reason }), unknownTool: true };
  }
  if (call.malformed !== undefined)
    return invalid(call, tool, `the arguments cannot be read: ${call.malformed}`);
  const parsed = tool.input.parse(ownArguments(call.arguments));
  if (parsed instanceof Promise) return parsed.then((result) => decide({ ...at, call, tool }, result));
  return decide({ ...at, call, tool }, parsed);
}

/** What a schema or a tool does to its arguments must not reach the transcript. Arguments that are no object are for the schema to refuse. */
function ownArguments(sent: Json): Json {
  return isJsonObject(sent) ? copyOf(sent) : sent;
}

function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, Json> = { ...value };
  for (const key in copy) copy[key] = copyOf(copy[key] as Json);
  return copy;
}

interface Proposal extends Judging {
  readonly call: ToolCall;
  readonly tool: Tool;
}

function decide(proposal: Proposal, parsed: ParseResult<unknown>): Prepared {
  const { call, tool } = proposal;
  if (!parsed.ok) return invalid(call, tool, problemIn(call, tool, parsed.issues));
  const request = requestOf(proposal, parsed.value);
  const decision = decisionOf(judgeOf(proposal.gate), request);
  const { verdict } = decision;
  const unseen = verdict === "ask" ? unseenIn(request) : undefined;
  if (unseen !== undefined) return deniedBy(unseen, call);
  if (verdict === "allow" || verdict === "ask") {
    const type = verdict === "ask" ? "ask" : "run";
    return {
      type,
      call,
      tool,
      args: parsed.value,
      decision,
      request,
      coerced: parsed.coerced,
    };
  }
  return deniedBy(decision, call);
}

/** A person agrees to nothing that cannot be shown. */
function unseenIn(request: CallRequest): Decision | undefined {
  try {
    void request.arguments;
    return undefined;
  } catch (error) {
    const reason = `a person must agree to it, and ${messageOf(error)}`;
    return { verdict: "deny", rule: "policy-error", reason };
  }
}

/**
 * What the policy judges is what the tool would get, not what the model wrote. Made as JSON whenever somebody looks at it; what JSON cannot show in full
 * (an object of a class, a function) throws then, which allows nothing.
 */
function requestOf({ call, tool, turn, gate, learned, uses }: Proposal, args: unknown): CallRequest {
  return {
    agent: gate.agent,
    skill: gate.allowed.skill,
    turn,
    callId: call.id,
    tool: tool.name,
    effect: tool.effect,
    parameters: tool.parameters ?? noParameters,
    kind: tool.kind,
    get fields() {
      return propertyNames(tool.input.jsonSchema);
    },
    get knows() {
      return knowing(gate.intent, learned, uses);
    },
    get arguments() {
      const shown = plainJson(args);
      if (!shown.ok) throw new TypeError(`its parsed arguments cannot be shown as JSON: ${shown.reason}`);
      return shown.value;
    },
  };
}

const noParameters = {};

/** Whatever is not clearly a decision is a no: a policy that throws, and one that gives something else. */
function decisionOf(policy: Policy, request: CallRequest): Decision {
  try {
    const decision = policy(request) as Partial<Decision> | undefined;
    const known =
      decision?.verdict === "allow" || decision?.verdict === "ask" || decision?.verdict === "deny";
    if (known) return decision as Decision;
    return {
      verdict: "deny",
      rule: "policy-error",
      reason: "the policy gave no verdict (allow, ask or deny)",
    };
  } catch (error) {
    return { verdict: "deny", rule: "policy-error", reason: `the policy failed: ${messageOf(error)}` };
  }
}

/** What is wrong with arguments: first the names of what must be there and is not. */
function problemIn({ arguments: sent }: ToolCall, tool: Tool, issues: readonly Issue[]): string {
  const { required } = tool.input.jsonSchema;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const missing = new Set(isJsonObject(sent) ? names.filter((name) => !Object.hasOwn(sent, name)) : []);
  if (missing.size === 0) return describeIssues(issues);
  const others = issues.filter(
    ({ path: [first, ...rest] }) => rest.length > 0 || !missing.has(String(first)),
  );
  const told = `Missing required parameters: ${[...missing].join(", ")}`;
  return others.length === 0 ? told : `${told}; ${describeIssues(others)}`;
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
  const result: ToolResult = { status: "invalid", text, note: `the model sent: ${rawArguments(call)}` };
  return { ...refused(call, decision, result), wrong: { tool, problem } };
}

/** The arguments as the model wrote them, as far as that is known. */
export function rawArguments({ arguments: sent }: ToolCall): string {
  return typeof sent === "string" ? sent : JSON.stringify(sent);
}

/** A call that a rule, a hook or a person said no to. */
export function denied(call: ToolCall, rule: string, reason: string): Refused {
  return deniedBy({ verdict: "deny", rule, reason }, call);
}

/** A call that a decision says no to. */
export function deniedBy(decision: Decision, call: ToolCall): Refused {
  const text = `Tool '${call.name}' was denied: ${decision.reason}`;
  return refused(call, decision, { status: "denied", text, note: decision.rule });
}

function refused(call: ToolCall, decision: Decision, result: ToolResult): Refused {
  return { type: "refused", call, decision, result };
}
