import { messageOf } from "../error/writ-error.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { ToolCall } from "../message/message.ts";
import { violation } from "../policy/account/constraints.ts";
import { refusal } from "../policy/allow-list.ts";
import type { CallRequest, Decision, Policy, RunKnowledge } from "../policy/decision.ts";
import { knowing, withPlan } from "../policy/knowledge/learned.ts";
import { planAt, type PlanAtCall } from "../policy/knowledge/plan.ts";
import { fitsOpen, judgePlan } from "../policy/rules/judge-plan.ts";
import { judgeOf } from "../run/gate.ts";
import { argumentNames, propertyNames } from "../schema/property-names.ts";
import { changedAgain, isChangedAgain, type ParseResult } from "../schema/schema.ts";
import { defaultsOf } from "../tool/default-values.ts";
import { actsOf } from "../tool/plan-tool.ts";
import { isReader, readResult } from "../tool/read-result.ts";
import type { Tool } from "../tool/tool.ts";
import { argumentProblem } from "../tool/wrong-values.ts";
import { untilStopped } from "../util/interrupt.ts";
import { copyOfPlain, type Json } from "../util/json.ts";
import { after, leaveUnheard, type Maybe } from "../util/maybe.ts";
import { plainJson } from "../util/plain-json.ts";
import { sameJson } from "../util/same-json.ts";
import { askPerson, decidedFact, unseenIn } from "./ask.ts";
import type { Batch, Call, CallRecord, EarlyCall, Fate, Ready } from "./call.ts";
import { askHooksBefore, isHooked } from "./hooked.ts";
import { JudgingTimes } from "./call-time.ts";
import { isMendable, mend } from "./mend.ts";
import {
  brokenPolicy,
  cancelled,
  denied,
  deniedBy,
  invalid,
  refused,
  unguarded,
  writtenByPerson,
} from "./refused.ts";
import { readPlan } from "./read-plan.ts";
import { notRun } from "./settle.ts";
import { asAnswered, goneTool, standingOf, stillRefused } from "./standing-call.ts";
import { fingerprintOf } from "./step.ts";

/**
 * Decides about one call: constraints of its tool, hooks, allow-list, arguments (mended if the author says how), policy, and a person
 * if the policy asks.
 */
export function judge(call: Call): Maybe<Fate> {
  const { journal, host } = call.batch.run;
  if (journal === directJournal) return judgeAnew(call);
  const standing = standingOf(call, journal);
  const times = standing.before?.decision === undefined ? new JudgingTimes(host) : undefined; // a record has its own times
  const judged = { ...call, ...standing, times };
  return after(judgeAnew(judged), keepDenial, judged);
}

/** Keeps a denial of the policy, because a call that does not run has no other record: the policy may allow it the next time. */
function keepDenial(fate: Fate, { batch, key, times }: Call): Maybe<Fate> {
  if (fate.type === "ready") return fate;
  const judged = times?.kept;
  if (fate.isDenied !== true) return judged === undefined ? fate : { ...fate, judged };
  const record = { ...notRun(fate), decision: fate.decision, ...(judged === undefined ? {} : { judged }) };
  const run = (): Promise<CallRecord> => Promise.resolve(record);
  const step = { key, fingerprint: () => fingerprintOf(fate.call), run };
  return batch.run.journal.step(step).then(() => fate);
}

function judgeAnew(call: Call): Maybe<Fate> {
  const { batch, proposed, before, refusal: wasRefused } = call;
  if (batch.refuse !== undefined && before?.hasRun !== true)
    return decided(denied(proposed, "repeats", batch.refuse), call);
  const against = before?.hasRun === true ? undefined : constraintAgainst(call);
  if (against !== undefined) return decided(deniedBy(against, proposed), call);
  const early = startedEarly(batch, proposed);
  if (early !== undefined) return decided({ ...early.ready, at: call, early }, call);
  const mayBeHooked = batch.run.hooks.beforeToolCall ?? before ?? wasRefused;
  return mayBeHooked !== undefined && isHooked(call) ? judgeHooked(call) : settled(checkCall(call), call);
}

async function judgeHooked(call: Call): Promise<Fate> {
  const hooked = await askHooksBefore(call);
  return "type" in hooked ? decided(hooked, call) : settled(checkCall(hooked), hooked);
}

/** Has wrong arguments mended if the author says how, then tells the decision. */
function settled(checked: Maybe<Fate>, call: Call): Maybe<Fate> {
  if (checked instanceof Promise) return mendedOr(checked, call);
  const stands = call.before ?? call.refusal;
  const isWhole = checked.type === "ready" && stands === undefined;
  return isWhole || !isMendable(checked, call) ? decided(checked, call) : mendedOr(checked, call);
}

async function mendedOr(checking: Maybe<Fate>, call: Call): Promise<Fate> {
  const { stop } = call.batch.run;
  const checked = checking instanceof Promise ? await untilStopped(checking, stop) : checking;
  if (checked === "stopped") return cancelled(call.proposed);
  if (!isMendable(checked, call)) return decided(checked, call);
  const mended = await mend(call, checked);
  const { inside } = mended;
  const fate = mended.fate ?? (await judgeMended(mended.call));
  const final = await decided(inside === undefined ? fate : { ...fate, inside }, mended.call);
  return inside === undefined ? final : { ...final, inside };
}

/** Judges a mended call anew: the hooks have not seen it. */
async function judgeMended(call: Call): Promise<Fate> {
  const fate = await checkCall(call);
  if (fate.type === "refused" || !isHooked(call, "/mended")) return fate;
  const hooked = await askHooksBefore({ ...call, proposed: fate.call }, "/mended");
  if ("type" in hooked) return hooked;
  return hooked.proposed === fate.call ? fate : checkCall(hooked);
}

/** Tells the decision, and asks a person if the policy does not decide. */
function decided(today: Fate, call: Call): Maybe<Fate> {
  const { run, turn } = call.batch;
  const fate = call.refusal === undefined && call.before === undefined ? today : standing(today, call);
  if (fate.type === "refused" || fate.early === undefined) call.times?.decides();
  if (fate.decision !== undefined) run.tell?.(decidedFact(fate, fate.decision, turn));
  if (fate.type === "refused" || fate.early !== undefined) return fate;
  const { refusal, isAnswered = false } = call;
  if (fate.decision.verdict !== "ask" && !isAnswered) return fate;
  const asking = askAbout(fate, call);
  return refusal === undefined ? asking : asking.then((answered) => asAnswered(answered, refusal));
}

/** The fate of a call that has a record: a refused call stays refused, and a call that has run keeps its arguments, whatever the schema says today. */
function standing(today: Fate, at: Call): Fate {
  if (at.refusal !== undefined) return stillRefused(today, at, at.refusal);
  if (at.before?.hasRun !== true || today.type === "ready" || today.wrong === undefined) return today;
  return weighed({ value: today.call.arguments }, { at, tool: today.wrong.tool });
}

/** Asks a person. Their arguments make another call than the hooks saw: hooks may deny it, but change nothing that the person decided. */
async function askAbout(fate: Ready, call: Call): Promise<Fate> {
  const answered = await askPerson(fate, call);
  if (answered.type !== "edited") return answered;
  const { times, ...asked } = call;
  const before = call.before?.hasRun === true ? { hasRun: true } : undefined;
  const judged = await judgeEdited({ ...asked, before, proposed: answered.call });
  const { answers } = answered;
  const edited = answers === undefined ? judged : { ...judged, answers };
  if (edited.type === "refused") return edited;
  const at = times === undefined ? edited.at : { ...edited.at, times }; // the times of judging the model's call, before the person was asked
  return { ...edited, at, askedBy: fate.decision };
}

/** Judges a call with a person's arguments like any other, without asking again: the person wrote it. */
async function judgeEdited(call: Call): Promise<Fate> {
  const { run, turn } = call.batch;
  const checked = await checkCall(call);
  const fate = checked.type === "refused" ? writtenByPerson(checked) : checked;
  if (fate.decision !== undefined) run.tell?.(decidedFact(fate, fate.decision, turn));
  if (fate.type === "refused") return fate;
  if (call.before === undefined && (await isChangedAgain(fate.tool.input, fate.args)))
    return denied(fate.call, "edited", changedAgain);
  const edited = { ...fate, isEdited: true };
  if (!isHooked(call, "/edited")) return edited;
  const hooked = await askHooksBefore({ ...call, proposed: fate.call }, "/edited");
  if ("type" in hooked) return hooked;
  if (hooked.proposed === fate.call) return edited;
  return denied(fate.call, "hook", "a hook wants other arguments than the person who approved it");
}

/** The decision of a constraint that forbids a call. */
export function constraintAgainst({ proposed: { name }, batch, uses = [] }: Call): Decision | undefined {
  const tool = batch.gate.allowed.tools.get(name);
  return tool?.constraints === undefined ? undefined : violation(tool, { name, uses });
}

/**
 * The call as it was started while the reply was read. An abandoned reply may have started another call under the same id: that call
 * belongs to nobody now.
 */
export function startedEarly({ early }: Pick<Batch, "early">, call: ToolCall): EarlyCall | undefined {
  const begun = call.malformed === undefined ? early?.get(call.id) : undefined;
  if (begun === undefined) return undefined;
  const { name, arguments: args } = begun.ready.call;
  return name === call.name && sameJson(args, call.arguments) ? begun : undefined;
}

/**
 * Checks one call: allow-list, then arguments, then policy. Returns a promise only if a schema checks asynchronously. It never throws because of
 * what a model wrote.
 */
export function checkCall(call: Call): Maybe<Fate> {
  const { proposed } = call;
  const { allowed } = call.batch.gate;
  const tool =
    allowed.tools.get(proposed.name) ?? (call.before?.hasRun === true ? goneTool(proposed.name) : undefined);
  if (tool === undefined) {
    const decision = refusal(allowed, proposed.name);
    const result = { status: "denied", text: decision.reason } as const;
    return { ...refused(proposed, decision, result), isUnknown: true };
  }
  if (proposed.malformed !== undefined)
    return invalid(proposed, tool, { problem: `the arguments cannot be read: ${proposed.malformed}` });
  call.times?.checks();
  const parsed = tool.input.parse(copyOfPlain(proposed.arguments)); // changes by a schema or a tool must not reach the transcript
  return after(tool.plans === true ? after(parsed, readPlan, call) : parsed, weigh, { at: call, tool });
}

interface Read {
  readonly at: Call;
  readonly tool: Tool;
}

/** Judges a call after its arguments were parsed. */
function weigh(parsed: ParseResult<unknown>, { at, tool }: Read): Fate {
  const { proposed: call } = at;
  at.times?.checked();
  if (parsed.ok) return weighed(parsed, { at, tool });
  const { issues } = parsed;
  return invalid(call, tool, { problem: argumentProblem(tool.input, call.arguments, issues), issues });
}

/** Asks the policy about a call whose arguments match. */
function weighed(
  { value: args, coerced }: { readonly value: unknown; readonly coerced?: readonly string[] },
  { at, tool }: Read,
): Fate {
  const { proposed: call } = at;
  const request = new JudgedCall(at, tool, args);
  const decision = decisionAbout(request, { at, tool, args });
  const { verdict, rule } = decision;
  if (rule === policyError && at.isAhead !== true) at.batch.run.host.warn?.(brokenPolicy(request, decision));
  const unseen = verdict === "ask" ? unseenIn(request) : undefined;
  if (verdict === "deny" || unseen !== undefined)
    return { ...deniedBy(unseen ?? decision, call), ...(at.before === undefined ? { isDenied: true } : {}) };
  if (decision.flags?.includes("effect-undeclared") === true && at.isAhead !== true)
    at.batch.run.host.warn?.(unguarded(request));
  return { type: "ready", at, call, tool, args, decision, request, coerced };
}

/** The decision in the record of the call, or else that of the policy. A denial of today does not count for a call that has begun. */
function decisionAbout(
  request: CallRequest,
  { at: { batch, before }, tool, args }: Read & { readonly args: unknown },
): Decision {
  if (before?.decision !== undefined) return before.decision;
  if (tool.name === readResult && isReader(tool)) return readingOn;
  const { gate } = batch;
  const policy = gate.outer === undefined ? gate.policy : judgeOf(gate);
  const decision = decisionOf(tool.plans === true ? planPolicy(policy, gate, args) : policy, request);
  return before !== undefined && decision.verdict === "deny" ? begunBefore : decision;
}

/** The policy that judges a plan: by its acts. */
function planPolicy(policy: Policy, { allowed: { tools } }: Call["batch"]["gate"], args: unknown): Policy {
  return (request) => judgePlan(request, actsOf(args), { policy, tools });
}

/** The decision about a call that an earlier process began without leaving a result: the earlier decision cannot be taken back. */
const begunBefore: Decision = { verdict: "allow", rule: "begun", reason: "an earlier process began it" };

/** The decision about reading on: it shows a run more of a call's result, so whoever allowed that call allowed this. */
const readingOn: Decision = {
  verdict: "allow",
  rule: "read-on",
  reason: "it is the rest of a result that the run was given",
};

/**
 * A call as policies and people see it: the arguments the tool would get, not those the model wrote. They become JSON whenever somebody
 * looks; arguments that JSON cannot show in full (an object of a class, a function) throw then, which allows nothing. A class because every call makes
 * one: what is costly and rarely looked at is behind getters of the prototype, which a spread does not copy.
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
  readonly #tool: Tool;
  readonly #args: unknown;
  #plan: PlanAtCall | undefined;

  constructor(call: Call, tool: Tool, args: unknown) {
    const { name, effect, parameters = noParameters, kind } = tool;
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
    this.#tool = tool;
    this.#args = args;
  }

  get arguments(): Json {
    const shown = plainJson(this.#args);
    if (!shown.ok) throw new TypeError(`its parsed arguments cannot be shown as JSON: ${shown.reason}`);
    return shown.value;
  }

  get fields(): ReadonlySet<string> {
    return propertyNames(this.#tool.input.jsonSchema);
  }

  get declared(): ReadonlySet<string> {
    return argumentNames(this.#tool.input.jsonSchema);
  }

  get defaultsIn(): CallRequest["defaultsIn"] {
    return defaultsOf(this.#tool, this.#call.proposed.arguments);
  }

  get knows(): RunKnowledge {
    const { batch, learned, uses, proposed, spent = [] } = this.#call;
    const { intent, plan } = batch.gate;
    const known = knowing(intent, learned, uses);
    if (plan === undefined) return known;
    this.#plan ??= planAt(
      { acts: plan, spent },
      {
        tool: this.tool,
        arguments: proposed.arguments,
        isOpenable: (argument) => fitsOpen(this, argument),
      },
    );
    return withPlan(known, this.#plan);
  }
}

const noParameters = {};

/** The rule in the decision about a policy that returned something other than a decision. */
const policyError = "policy-error";

/** The decision of a plain JavaScript function that gave no rule or reason: people and models are told both. */
function wordless(decision: Decision): Decision {
  const { rule, reason }: { readonly rule?: unknown; readonly reason?: unknown } = decision;
  return {
    ...decision,
    rule: typeof rule === "string" ? rule : "policy",
    reason: typeof reason === "string" ? reason : "the policy gives no reason",
  };
}

/** The decision of a policy. A policy that throws, or returns anything but a decision, denies. */
function decisionOf(policy: Policy, request: CallRequest): Decision {
  try {
    const decision: Decision | undefined = policy(request);
    const known =
      decision?.verdict === "allow" || decision?.verdict === "ask" || decision?.verdict === "deny";
    if (known)
      return typeof decision.rule === "string" && typeof decision.reason === "string"
        ? decision
        : wordless(decision);
    leaveUnheard(decision);
    const gave =
      (decision as unknown) instanceof Promise
        ? "a promise: it must answer at once"
        : "no verdict (allow, ask or deny)";
    return { verdict: "deny", rule: policyError, reason: `the policy gave ${gave}` };
  } catch (error) {
    return { verdict: "deny", rule: policyError, reason: `the policy failed: ${messageOf(error)}` };
  }
}
