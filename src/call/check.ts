import { messageOf } from "../error/writ-error.ts";
import type { Warning } from "../journal/host.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import { refusal } from "../policy/allow-list.ts";
import type { CallRequest, Decision, Policy, RunKnowledge } from "../policy/decision.ts";
import { knowing } from "../policy/knowledge/learned.ts";
import { judgeOf } from "../run/gate.ts";
import { propertyNames } from "../schema/property-names.ts";
import type { ParseResult } from "../schema/schema.ts";
import { isReader, readResult } from "../tool/read-result.ts";
import type { Tool } from "../tool/tool.ts";
import { argumentProblem, wrongArguments } from "../tool/wrong-values.ts";
import { isJsonObject, type Json } from "../util/json.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { plainJson } from "../util/plain-json.ts";
import { type Call, deniedBy, type Fate, type Refused, refused } from "./call.ts";

/**
 * Checks one call: allow-list, then arguments, then policy. Gives a promise only where a schema checks asynchronously. Never throws for what
 * a model wrote.
 */
export function checkCall(call: Call): Maybe<Fate> {
  const { proposed } = call;
  const { allowed } = call.batch.gate;
  const tool = allowed.tools.get(proposed.name);
  if (tool === undefined) {
    const decision = refusal(allowed, proposed.name);
    const result = { status: "denied", text: decision.reason } as const;
    return { ...refused(proposed, decision, result), isUnknown: true };
  }
  if (proposed.malformed !== undefined)
    return invalid(proposed, tool, `the arguments cannot be read: ${proposed.malformed}`);
  return after(tool.input.parse(copyOf(proposed.arguments)), weigh, { call, tool });
}

/** Copies what the model sent: changes by a schema or a tool must not reach the transcript. */
function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, Json> = { ...value };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key is one of the copy
  for (const key in copy) copy[key] = copyOf(copy[key] as Json);
  return copy;
}

interface Read {
  readonly call: Call;
  readonly tool: Tool;
}

/** Asks the policy about a call whose arguments were read. */
function weigh(parsed: ParseResult<unknown>, { call: at, tool }: Read): Fate {
  const { proposed: call } = at;
  if (!parsed.ok) return invalid(call, tool, argumentProblem(tool.input, call.arguments, parsed.issues));
  const { value: args, coerced } = parsed;
  const request = new JudgedCall(at, tool, args);
  const { gate } = at.batch;
  const policy = gate.outer === undefined ? gate.policy : judgeOf(gate);
  const decision =
    at.known ?? (tool.name === readResult && isReader(tool) ? readingOn : decisionOf(policy, request));
  const { verdict, rule } = decision;
  if (rule === policyError) at.batch.run.host.warn?.(brokenPolicy(request, decision));
  const unseen = verdict === "ask" ? unseenIn(request) : undefined;
  if (verdict === "deny" || unseen !== undefined)
    return { ...deniedBy(unseen ?? decision, call), ...(at.known === undefined ? { isDenied: true } : {}) };
  if (decision.flags?.includes("effect-undeclared") === true) at.batch.run.host.warn?.(unguarded(request));
  return { type: "ready", call, tool, args, decision, request, coerced };
}

/** Reading on shows a run what a call of it gave already: whoever allowed that call allowed this. */
const readingOn: Decision = {
  verdict: "allow",
  rule: "read-on",
  reason: "it is the rest of a result that the run was given",
};

/** The model is told of a broken policy by each denial, and its author by this. */
function brokenPolicy({ agent, tool }: CallRequest, { reason }: Decision): Warning {
  const text = `Agent "${agent}" was denied the call of "${tool}": ${reason}`;
  return { code: "WRIT_POLICY_FAILED", text, isDeprecation: false };
}

/** Left out, an effect spares a question: an author has to know what that means. */
function unguarded({ agent, tool }: CallRequest): Warning {
  const text = `Agent "${agent}" ran "${tool}", which declares no effect, after it had read data of strangers, and nobody was asked. Declare it: \`effect: "none"\` or \`"read"\` for a tool that changes nothing, else \`"write"\` or \`"irreversible"\`, for which a person is asked.`;
  return { code: "WRIT_EFFECT_UNDECLARED", text, isDeprecation: false };
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
 * A call as policies and people see it: what the tool would get, not what the model wrote. Its arguments are made JSON whenever somebody
 * looks; what JSON cannot show in full (an object of a class, a function) throws then, which allows nothing. A class, since every call has
 * one: what is costly to make and rarely looked at stays behind getters of the prototype, which a spread does not copy.
 */
class JudgedCall implements CallRequest {
  readonly agent: string;
  readonly skill: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly effect: Tool["effect"];
  readonly parameters: CallRequest["parameters"];
  readonly kind: Tool["kind"];
  readonly #call: Call;
  readonly #input: Tool["input"];
  readonly #args: unknown;

  constructor(call: Call, { name, effect, parameters = noParameters, kind, input }: Tool, args: unknown) {
    const { gate, turn } = call.batch;
    this.agent = gate.agent;
    this.skill = gate.allowed.skill;
    this.turn = turn;
    this.callId = call.proposed.id;
    this.tool = name;
    this.effect = effect;
    this.parameters = parameters;
    this.kind = kind;
    this.#call = call;
    this.#input = input;
    this.#args = args;
  }

  get arguments(): Json {
    const shown = plainJson(this.#args);
    if (!shown.ok) throw new TypeError(`its parsed arguments cannot be shown as JSON: ${shown.reason}`);
    return shown.value;
  }

  get fields(): ReadonlySet<string> {
    return propertyNames(this.#input.jsonSchema);
  }

  get knows(): RunKnowledge {
    const { batch, learned, uses } = this.#call;
    return knowing(batch.gate.intent, learned, uses);
  }
}

const noParameters = {};

/** The rule of a policy that gives nothing that can be a decision. */
const policyError = "policy-error";

/** Whatever is not clearly a decision is a no: a policy that throws, and one that gives something else. */
function decisionOf(policy: Policy, request: CallRequest): Decision {
  try {
    const decision: Decision | undefined = policy(request);
    const known =
      decision?.verdict === "allow" || decision?.verdict === "ask" || decision?.verdict === "deny";
    if (known) return decision;
    const gave =
      (decision as unknown) instanceof Promise
        ? "a promise: it must answer at once"
        : "no verdict (allow, ask or deny)";
    return { verdict: "deny", rule: policyError, reason: `the policy gave ${gave}` };
  } catch (error) {
    return { verdict: "deny", rule: policyError, reason: `the policy failed: ${messageOf(error)}` };
  }
}

function invalid(call: ToolCall, tool: Tool, problem: string): Refused {
  const decision: Decision = {
    verdict: "deny",
    rule: "arguments",
    reason: problem,
    remedy: "arguments that match the input schema",
  };
  const text = wrongArguments(tool, problem);
  const result: ToolResult = { status: "invalid", text, note: `the model sent: ${rawArguments(call)}` };
  return { ...refused(call, decision, result), wrong: { tool, problem } };
}

/** The arguments as the model wrote them, as far as that is known. */
function rawArguments({ arguments: sent }: ToolCall): string {
  return typeof sent === "string" ? sent : JSON.stringify(sent);
}
