import { messageOf } from "../error/writ-error.ts";
import { consult } from "../hook/consult.ts";
import { hookFailure } from "../hook/run-hooks.ts";
import type { ToolResult } from "../message/message.ts";
import { violation } from "../policy/constraints.ts";
import type { Decision } from "../policy/decision.ts";
import { untilStopped } from "../util/interrupt.ts";
import { toJson } from "../util/json.ts";
import { askPerson } from "./ask.ts";
import { begunEarly, judging, type Planning } from "./call.ts";
import type { ExecuteOptions } from "../run/context.ts";
import { cancelledResult, resultText } from "./run.ts";
import { decidedFact } from "./decided-fact.ts";
import { denied, deniedBy, type Prepared, prepare, type Runnable } from "./judge.ts";
import { afterRepair, mayMend, repair } from "./mend.ts";
import type { Planned } from "./run-calls.ts";

/** Decides about one call: constraints of its tool, hooks, allow-list, arguments (mended where the author says how), policy, and a person where the policy asks. */
export function planCall(planning: Planning, options: ExecuteOptions): Planned | Promise<Planned> {
  const { call, batch } = planning;
  if (batch.refuse !== undefined)
    return settleOne(plannedOf(denied(call, "repeats", batch.refuse)), planning, options);
  const against = constraintAgainst(planning);
  if (against !== undefined) return settleOne(plannedOf(deniedBy(against, call)), planning, options);
  const early = begunEarly(batch, call);
  if (early !== undefined) return settleOne({ call, prepared: early.prepared }, planning, options);
  if (options.hooks.beforeToolCall !== undefined) return planHooked(planning, options);
  const prepared = prepare(call, judging(planning));
  return prepared instanceof Promise || mayMend(prepared, options)
    ? planSlowly(planning, prepared, options)
    : settleOne(plannedOf(prepared), planning, options);
}

function constraintAgainst({ call: { name }, batch, uses = [] }: Planning): Decision | undefined {
  const tool = batch.gate.allowed.tools.get(name);
  return tool?.constraints === undefined ? undefined : violation(tool, { name, uses });
}

async function planHooked(planning: Planning, options: ExecuteOptions): Promise<Planned> {
  const hooked = await askBefore(planning, options);
  if (!("batch" in hooked)) return settleOne(hooked, planning, options);
  const { call } = hooked;
  return planSlowly(hooked, prepare(call, judging(hooked)), options);
}

async function planSlowly(
  planning: Planning,
  decided: Prepared | Promise<Prepared>,
  options: ExecuteOptions,
): Promise<Planned> {
  const prepared = await untilStopped(Promise.resolve(decided), options.stop);
  if (prepared === "stopped") return { call: planning.call, result: cancelledResult(planning.call.name) };
  if (!mayMend(prepared, options)) return settleOne(plannedOf(prepared), planning, options);
  const mended = await repair(planning, prepared, options);
  const after = afterRepair(planning, mended);
  const judged = mended.result === undefined ? await judgeMended(mended, after, options) : mended;
  const { inside } = mended;
  return { ...(await settleOne(judged, after, options)), ...(inside === undefined ? {} : { inside }) };
}

/** What was mended is another call than the hooks saw. */
async function judgeMended(mended: Planned, planning: Planning, options: ExecuteOptions): Promise<Planned> {
  if (options.hooks.beforeToolCall === undefined) return mended;
  const hooked = await askBefore({ ...planning, call: mended.call }, options, "/mended");
  if (!("batch" in hooked)) return { ...mended, ...hooked };
  if (hooked.call === mended.call) return mended;
  const prepared = await prepare(hooked.call, judging(planning));
  return { ...mended, ...plannedOf(prepared) };
}

function plannedOf(prepared: Prepared): Planned {
  const { call } = prepared;
  return prepared.type === "refused" ? { call, prepared, result: prepared.result } : { call, prepared };
}

/** Tells the decision, and asks a person where the policy does not decide. */
function settleOne(
  planned: Planned,
  planning: Planning,
  options: ExecuteOptions,
): Planned | Promise<Planned> {
  const { prepared, result } = planned;
  if (prepared !== undefined) options.tell?.(decidedFact(planning.batch.turn, prepared));
  if (prepared?.type !== "ask" || result !== undefined) return planned;
  return askAbout(planning, prepared, options);
}

/** What a person put in the place of the arguments is another call than the hooks saw: they may deny it, and change nothing that a person decided. */
async function askAbout(planning: Planning, prepared: Runnable, options: ExecuteOptions): Promise<Planned> {
  const answered = await askPerson(planning, prepared, options);
  const { call, result, isEdited = false } = answered;
  if (!isEdited || result !== undefined || options.hooks.beforeToolCall === undefined) return answered;
  const hooked = await askBefore({ ...planning, call }, options, "/edited");
  if (!("batch" in hooked)) return { ...answered, ...hooked };
  if (hooked.call === call) return answered;
  return plannedOf(denied(call, "hook", "a hook wants other arguments than the person who approved it"));
}

/** Asks the author's hooks about a call that the allow-list has. A hook that fails denies the call. */
async function askBefore(
  planning: Planning,
  options: ExecuteOptions,
  part = "",
): Promise<Planning | Planned> {
  const { call, batch, index } = planning;
  const tool = batch.gate.allowed.tools.get(call.name);
  if (tool === undefined) return planning;
  const { turn } = batch;
  const at = { turn, callId: call.id, tool: call.name, arguments: call.arguments };
  try {
    const question = { place: "beforeToolCall" as const, at, turn, part: `${index}${part}`, callId: call.id };
    const answer = await consult(options, question);
    if (answer.deny !== undefined) return plannedOf(denied(call, "hook", answer.deny));
    if (answer.result !== undefined) return substituted(planning, answer.result);
    if (answer.arguments === undefined) return planning;
    const { malformed: _malformed, ...rest } = call;
    return { ...planning, call: { ...rest, arguments: answer.arguments } };
  } catch (error) {
    if (options.stop.reason !== undefined) return { call, result: cancelledResult(call.name) };
    if (hookFailure(error) === undefined) throw error; // the journal failed, which says nothing of the call
    return plannedOf(denied(call, "hook-failed", messageOf(error)));
  }
}

function substituted({ call }: Planning, value: unknown): Planned {
  const json = toJson(value);
  const result: ToolResult = json.ok
    ? { status: "ok", text: resultText(json.value), value: json.value }
    : { status: "error", text: `Tool '${call.name}' failed: what a hook gave for it is not JSON.` };
  const decision = {
    verdict: "allow",
    rule: "hook",
    reason: "a hook answered in place of the tool",
  } as const;
  return { call, prepared: { type: "refused", call, decision, result }, result };
}
