import { messageOf } from "../error/writ-error.ts";
import { consult } from "../hook/consult.ts";
import { hookFailure } from "../hook/run-hooks.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import { violation } from "../policy/account/constraints.ts";
import type { Decision } from "../policy/decision.ts";
import { joinLearned } from "../policy/knowledge/learned.ts";
import { type Inside, openCallScope } from "../run/scope.ts";
import { openCall } from "../run/around.ts";
import { okResult } from "../tool/result.ts";
import { assertNever } from "../util/assert-never.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Journal } from "../journal/journal.ts";
import { untilStopped } from "../util/interrupt.ts";
import { toJson } from "../util/json.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { sameJson } from "../util/same-json.ts";
import { askPerson, decidedFact } from "./ask.ts";
import {
  type Batch,
  type Call,
  type CallRecord,
  cancelled,
  denied,
  deniedBy,
  type EarlyCall,
  type Fate,
  fingerprintOf,
  keyOf,
  type Ready,
  type Refused,
  refused,
  withArguments,
} from "./call.ts";
import { checkCall } from "./check.ts";
import { notRun } from "./settle.ts";
import { repairArguments, type RepairedArguments } from "./recovery.ts";

/**
 * Decides about one call: constraints of its tool, hooks, allow-list, arguments (mended where the author says how), policy, and a person
 * where the policy asks.
 */
export function judge(call: Call): Maybe<Fate> {
  const { journal } = call.batch.run;
  if (journal === directJournal) return judgeAnew(call);
  const known = knownDecision(call, journal);
  return after(judgeAnew(known === undefined ? call : { ...call, known }), keepDenial, call);
}

/** An earlier process began the call, and left no result: what it decided then, nobody can take back. */
const begunBefore: Decision = { verdict: "allow", rule: "begun", reason: "an earlier process began it" };

/** The decision that stands in the journal. A policy that says something else today changes nothing of what has happened. */
function knownDecision(call: Call, { find, hasBegun }: Journal): Decision | undefined {
  const key = keyOf(call);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call wrote it
  const record = find?.(key) as Pick<CallRecord, "decision"> | undefined;
  return record?.decision ?? (hasBegun?.(key) === true ? begunBefore : undefined);
}

/** Keeps a no of the policy, since a call that does not run has no other record: the policy may say yes the next time. */
function keepDenial(fate: Fate, { batch, index }: Call): Maybe<Fate> {
  if (fate.type === "ready" || fate.isDenied !== true) return fate;
  const record = { ...notRun(fate), decision: fate.decision };
  const run = (): Promise<CallRecord> => Promise.resolve(record);
  const step = { key: keyOf({ batch, index }), fingerprint: () => fingerprintOf(fate.call), run };
  return batch.run.journal.step(step).then(() => fate);
}

function judgeAnew(call: Call): Maybe<Fate> {
  const { batch, proposed } = call;
  const { hooks } = batch.run;
  if (batch.refuse !== undefined) return decided(denied(proposed, "repeats", batch.refuse), call);
  const against = constraintAgainst(call);
  if (against !== undefined) return decided(deniedBy(against, proposed), call);
  const early = startedEarly(batch, proposed);
  if (early !== undefined) return decided({ ...early.ready, early }, call);
  if (hooks.beforeToolCall === undefined) return settled(checkCall(call), call);
  return judgeHooked(call);
}

function constraintAgainst({ proposed: { name }, batch, uses = [] }: Call): Decision | undefined {
  const tool = batch.gate.allowed.tools.get(name);
  return tool?.constraints === undefined ? undefined : violation(tool, { name, uses });
}

/**
 * The call as it was started while the reply was read. A reply that was given up can have started another call under the same id: that one
 * is nobody's any more.
 */
export function startedEarly({ early }: Pick<Batch, "early">, call: ToolCall): EarlyCall | undefined {
  const begun = call.malformed === undefined ? early?.get(call.id) : undefined;
  if (begun === undefined) return undefined;
  const { name, arguments: args } = begun.ready.call;
  return name === call.name && sameJson(args, call.arguments) ? begun : undefined;
}

async function judgeHooked(call: Call): Promise<Fate> {
  const hooked = await askHooksBefore(call);
  return "type" in hooked ? decided(hooked, call) : settled(checkCall(hooked), hooked);
}

/** Has wrong arguments mended where the author says how, then tells what was decided. */
function settled(checked: Maybe<Fate>, call: Call): Maybe<Fate> {
  if (!(checked instanceof Promise) && !isMendable(checked)) return decided(checked, call);
  return mendedOr(checked, call);
}

async function mendedOr(checking: Maybe<Fate>, call: Call): Promise<Fate> {
  const { stop } = call.batch.run;
  const checked = checking instanceof Promise ? await untilStopped(checking, stop) : checking;
  if (checked === "stopped") return cancelled(call.proposed);
  if (!isMendable(checked)) return decided(checked, call);
  const mended = await mend(call, checked);
  const { inside } = mended.fate;
  const fate = mended.fate.type === "ready" ? await judgeMended(mended.fate, mended.call) : mended.fate;
  const final = await decided(fate, mended.call);
  return inside === undefined ? final : { ...final, inside };
}

/** A mended call is another one than the hooks saw. */
async function judgeMended(fate: Ready, call: Call): Promise<Fate> {
  if (call.batch.run.hooks.beforeToolCall === undefined) return fate;
  const hooked = await askHooksBefore({ ...call, proposed: fate.call }, "/mended");
  if ("type" in hooked) return hooked;
  return hooked.proposed === fate.call ? fate : checkCall(hooked);
}

/** Tells the decision, and asks a person where the policy does not decide. */
function decided(fate: Fate, call: Call): Maybe<Fate> {
  const { run, turn } = call.batch;
  if (fate.decision !== undefined) run.tell?.(decidedFact(fate, fate.decision, turn));
  if (fate.type === "refused" || fate.decision.verdict !== "ask" || fate.early !== undefined) return fate;
  return askAbout(fate, call);
}

/** A person's arguments make another call than the hooks saw: hooks may deny it, and change nothing that a person decided. */
async function askAbout(fate: Ready, call: Call): Promise<Fate> {
  const answered = await askPerson(fate, call);
  if (answered.type === "refused" || answered.isEdited !== true) return answered;
  return judgeEdited({ ...answered, askedBy: fate.decision }, call);
}

async function judgeEdited(answered: Ready, call: Call): Promise<Fate> {
  if (call.batch.run.hooks.beforeToolCall === undefined) return answered;
  const hooked = await askHooksBefore({ ...call, proposed: answered.call }, "/edited");
  if ("type" in hooked) return hooked;
  if (hooked.proposed === answered.call) return answered;
  return denied(answered.call, "hook", "a hook wants other arguments than the person who approved it");
}

/** Asks the author's hooks about a call that the allow-list has. A hook that fails denies the call. */
async function askHooksBefore(call: Call, part = ""): Promise<Call | Fate> {
  const { proposed, batch, index } = call;
  const { run, turn, gate } = batch;
  const { id: callId, name: tool } = proposed;
  if (!gate.allowed.tools.has(tool)) return call;
  const at = { turn, callId, tool, arguments: proposed.arguments };
  try {
    const question = { place: "beforeToolCall" as const, at, turn, part: `${index}${part}`, callId };
    const answer = await consult(run, question);
    if (answer.deny !== undefined) return denied(proposed, "hook", answer.deny);
    if (answer.result !== undefined) return substituted(proposed, answer.result);
    if (answer.arguments === undefined) return call;
    return { ...call, proposed: withArguments(proposed, answer.arguments) };
  } catch (error) {
    if (run.stop.reason !== undefined) return cancelled(proposed);
    if (hookFailure(error) === undefined) throw error; // the journal failed, which says nothing of the call
    const text = `A \`beforeToolCall\` hook of agent "${gate.agent}" failed, and the call of "${tool}" was denied: ${messageOf(error)}`;
    run.host.warn?.({ code: "WRIT_HOOK_FAILED", text, isDeprecation: false });
    return denied(proposed, "hook-failed", messageOf(error));
  }
}

function substituted(call: ToolCall, value: unknown): Fate {
  const json = toJson(value);
  const result: ToolResult = json.ok
    ? okResult(json.value)
    : { status: "error", text: `Tool '${call.name}' failed: what a hook gave for it is not JSON.` };
  const decision = {
    verdict: "allow",
    rule: "hook",
    reason: "a hook answered in place of the tool",
  } as const;
  return refused(call, decision, result);
}

/** A call whose arguments are wrong. */
type Wrong = Refused & Required<Pick<Refused, "wrong">>;

/** Tells whether the author says what to do about wrong arguments of this call. */
function isMendable(fate: Fate): fate is Wrong {
  return fate.type === "refused" && fate.wrong?.tool.recover?.invalidArguments !== undefined;
}

/** A call after its mending: it is no better than what was read for that. */
export interface Mended {
  readonly call: Call;
  readonly fate: Fate;
}

/** Has wrong arguments mended, as one step of the journal; the mended call is decided about like any other. */
async function mend(at: Call, wrong: Wrong): Promise<Mended> {
  const { run } = at.batch;
  const { call } = wrong;
  const key = `${keyOf(at)}/repair`;
  const step = { key, fingerprint: () => fingerprintOf(call), run: () => askAuthor(at, wrong, key) };
  const record = await untilStopped(run.journal.step(step), run.stop);
  if (record === "stopped") return { call: at, fate: cancelled(call) };
  const { repaired, inside } = record;
  const after = inside === undefined ? at : { ...at, learned: joinLearned(at.learned, inside.label) };
  const fate = await fateOf(repaired, wrong, after);
  return { call: after, fate: inside === undefined ? fate : { ...fate, inside } };
}

function fateOf(repaired: RepairedArguments, wrong: Wrong, at: Call): Fate | Promise<Fate> {
  switch (repaired.type) {
    case "unhandled":
      return wrong;
    case "escalated":
      return { ...wrong, result: repaired.result, escalated: true };
    case "failed":
      return { ...wrong, result: repaired.result, fatal: repaired.fatal };
    case "repaired":
      return checkCall({ ...at, proposed: withArguments(wrong.call, repaired.arguments) });
    default:
      return assertNever(repaired);
  }
}

interface MendRecord {
  readonly repaired: RepairedArguments;
  readonly inside?: Inside;
}

async function askAuthor({ batch, learned }: Call, { call, wrong }: Wrong, key: string): Promise<MendRecord> {
  const { run, gate } = batch;
  const { recover: recovery } = wrong.tool;
  if (recovery === undefined) return { repaired: { type: "unhandled" } };
  const around = openCall(gate.intent, run.scope, () => learned.label);
  const scope = openCallScope({ callId: call.id, key, ...batch, around }, run);
  const repaired = await repairArguments({
    call,
    tool: wrong.tool,
    recovery,
    stopped: () => run.stop.reason !== undefined,
    context: { signal: run.stop.signal, parent: scope.run },
    onThrow: (error) => run.onThrow(call.id, error),
  });
  const inside = await scope.close();
  return inside === undefined ? { repaired } : { repaired, inside };
}
