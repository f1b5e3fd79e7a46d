import { directJournal } from "../journal/direct-journal.ts";
import type { Journal } from "../journal/journal.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { untilStopped } from "../util/interrupt.ts";
import { askPerson, decidedFact } from "./ask.ts";
import type { Call, CallRecord, Fate, Ready } from "./call.ts";
import { checkCall, constraintAgainst, startedEarly } from "./check.ts";
import { askHooksBefore } from "./hooked.ts";
import { JudgingTimes } from "./judging-times.ts";
import { isMendable, mend } from "./mend.ts";
import { cancelled, denied, deniedBy } from "./refused.ts";
import { notRun } from "./settle.ts";
import { fingerprintOf } from "./step.ts";

/**
 * Decides about one call: constraints of its tool, hooks, allow-list, arguments (mended where the author says how), policy, and a person
 * where the policy asks.
 */
export function judge(call: Call): Maybe<Fate> {
  const { journal, host } = call.batch.run;
  if (journal === directJournal) return judgeAnew(call);
  const before = recordBefore(call, journal);
  const timed = { ...call, times: new JudgingTimes(host) };
  return after(judgeAnew(before === undefined ? timed : { ...timed, before }), keepDenial, timed);
}

/** The decision that stands in the journal. A policy that says something else today changes nothing of what has happened. */
function recordBefore({ key }: Call, { find, hasBegun }: Journal): Call["before"] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call wrote it
  const record = find?.(key) as Pick<CallRecord, "decision"> | undefined;
  if (record?.decision !== undefined) return { decision: record.decision };
  return hasBegun?.(key) === true ? {} : undefined;
}

/** Keeps a no of the policy, since a call that does not run has no other record: the policy may say yes the next time. */
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
  const { batch, proposed } = call;
  const { hooks } = batch.run;
  if (batch.refuse !== undefined) return decided(denied(proposed, "repeats", batch.refuse), call);
  const against = constraintAgainst(call);
  if (against !== undefined) return decided(deniedBy(against, proposed), call);
  const early = startedEarly(batch, proposed);
  if (early !== undefined) return decided({ ...early.ready, at: call, early }, call);
  if (hooks.beforeToolCall === undefined) return settled(checkCall(call), call);
  return judgeHooked(call);
}

async function judgeHooked(call: Call): Promise<Fate> {
  const hooked = await askHooksBefore(call);
  return "type" in hooked ? decided(hooked, call) : settled(checkCall(hooked), hooked);
}

/** Has wrong arguments mended where the author says how, then tells what was decided. */
function settled(checked: Maybe<Fate>, call: Call): Maybe<Fate> {
  const isWhole = !(checked instanceof Promise) && (checked.type === "ready" || !isMendable(checked));
  return isWhole ? decided(checked, call) : mendedOr(checked, call);
}

async function mendedOr(checking: Maybe<Fate>, call: Call): Promise<Fate> {
  const { stop } = call.batch.run;
  const checked = checking instanceof Promise ? await untilStopped(checking, stop) : checking;
  if (checked === "stopped") return cancelled(call.proposed);
  if (checked.type === "ready" || !isMendable(checked)) return decided(checked, call);
  const mended = await mend(call, checked);
  const { inside } = mended;
  const fate = mended.fate ?? (await judgeMended(mended.call));
  const final = await decided(inside === undefined ? fate : { ...fate, inside }, mended.call);
  return inside === undefined ? final : { ...final, inside };
}

/** A mended call is another one than the hooks saw. */
async function judgeMended(call: Call): Promise<Fate> {
  const fate = await checkCall(call);
  if (fate.type === "refused" || call.batch.run.hooks.beforeToolCall === undefined) return fate;
  const hooked = await askHooksBefore({ ...call, proposed: fate.call }, "/mended");
  if ("type" in hooked) return hooked;
  return hooked.proposed === fate.call ? fate : checkCall(hooked);
}

/** Tells the decision, and asks a person where the policy does not decide. */
function decided(fate: Fate, call: Call): Maybe<Fate> {
  const { run, turn } = call.batch;
  if (fate.type === "refused" || fate.early === undefined) call.times?.decides();
  if (fate.decision !== undefined) run.tell?.(decidedFact(fate, fate.decision, turn));
  if (fate.type === "refused" || fate.decision.verdict !== "ask" || fate.early !== undefined) return fate;
  return askAbout(fate, call);
}

/** A person's arguments make another call than the hooks saw: hooks may deny it, and change nothing that a person decided. */
async function askAbout(fate: Ready, call: Call): Promise<Fate> {
  const answered = await askPerson(fate, call);
  if (answered.type !== "edited") return answered;
  const { before: _decided, times, ...asked } = call;
  const judged = await judgeEdited({ ...asked, proposed: answered.call });
  const { answers } = answered;
  const edited = answers === undefined ? judged : { ...judged, answers };
  if (edited.type === "refused") return edited;
  const at = times === undefined ? edited.at : { ...edited.at, times }; // of the model's call, before the person was asked
  return { ...edited, at, askedBy: fate.decision };
}

/** A call with a person's arguments is judged like any other; asking again is not needed, since it is the person's own. */
async function judgeEdited(call: Call): Promise<Fate> {
  const { run, turn } = call.batch;
  const fate = await checkCall(call);
  if (fate.decision !== undefined) run.tell?.(decidedFact(fate, fate.decision, turn));
  if (fate.type === "refused") return fate;
  const edited = { ...fate, isEdited: true };
  if (run.hooks.beforeToolCall === undefined) return edited;
  const hooked = await askHooksBefore({ ...call, proposed: fate.call }, "/edited");
  if ("type" in hooked) return hooked;
  if (hooked.proposed === fate.call) return edited;
  return denied(fate.call, "hook", "a hook wants other arguments than the person who approved it");
}
