import { partsText } from "../../journal/parts.ts";
import { mismatch } from "../../journal/recorded-journal.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { Inside } from "../../run/inside.ts";
import { StepsOfRun } from "../../run/steps-of-run.ts";
import { RunWaits } from "../../run/waits.ts";
import { slots } from "../../util/slots.ts";
import type { StopReason } from "../../run/end.ts";
import { interrupt } from "../../util/interrupt.ts";
import { jsonOrNull } from "../../util/json.ts";
import { waitForAll } from "../../util/wait-for-all.ts";
import type { CompositeRun, Job, Ran } from "./composite-run.ts";
import { failureOf, outputOf, stageFailed, throwIfStopped } from "./course.ts";
import type { Member } from "./members.ts";

/** Members that run side by side on one input, or each on its own. */
export interface Group {
  readonly members: readonly Member[];
  readonly input: unknown;
  /** The values that the members get in place of the input, in their order. */
  readonly inputs?: readonly unknown[];
  /** The end that cancels the others: the first answer, or the first failure. */
  readonly until: "answer" | "failure";
  /** The number of members that run at a time. */
  readonly concurrency: number;
  /** The number of the round, in compositions with rounds. */
  readonly round?: number;
}

/** The end of a group, as the journal keeps it: another member may be the fastest the next time. */
interface GroupRecord {
  /** The members whose answers count. In a replay only these run again, from their own records. */
  readonly answered: readonly number[];
  /** The member that failed, and its end. Left out if the group answered. */
  readonly failure?: { readonly index: number; readonly outcome: Outcome; readonly reason: string };
  readonly inside: readonly (Inside | null)[];
}

/**
 * Runs members side by side and returns the outputs that count, in order: of all, or of the first that answers. The others are
 * cancelled, and waited for, before anything else happens.
 *
 * @throws Unanswered for the first that does not answer, or the last if none does; the error that its run throws
 */
export async function together(group: Group, run: CompositeRun): Promise<readonly unknown[]> {
  const { members, input, inputs, round } = group;
  const suffix = round === undefined ? "" : `/${round}`;
  const jobs = members.map((member, index): Job => {
    const given = inputs === undefined ? { input } : { input: inputs[index], isMade: true };
    return { member, place: `${index}${suffix}`, ...given };
  });
  const live: { ran?: readonly Ran[] } = {};
  const settle = async (): Promise<GroupRecord> => {
    const ended = await runAll(jobs, group, run);
    live.ran = ended.ran;
    if (ended.lost !== undefined) throw ended.lost.error;
    return settled(ended, group, run);
  };
  const key = `settled${suffix}`;
  const fingerprint = (): string =>
    partsText({ members: members.map(({ name }) => name), input: jsonOrNull(input) });
  const record = await run.journal
    .step({ key, fingerprint, run: settle, isOuter: true })
    .catch((error: unknown) => {
      jobs.forEach(({ place }, index) => run.book(place, live.ran?.[index]?.inside));
      throw error;
    });
  const ran = live.ran ?? (await replay(record, { jobs, group, run }));
  jobs.forEach(({ place }, index) => run.book(place, record.inside[index] ?? undefined));
  const { failure, answered } = record;
  if (failure !== undefined) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the record is of these jobs
    const job = jobs[failure.index] as Job;
    throw stageFailed(job, { ...failure, cause: ran[failure.index]?.result?.error }, run.name);
  }
  return answered.map((index) => {
    const one = ran[index] ?? {};
    const job = jobs[index];
    // The record says that it answered: another end means other records.
    if (job === undefined || (one.thrown === undefined && one.result?.outcome.type !== "answered"))
      throw mismatch(key, run.runId, ["members"]);
    return outputOf(one, job, run.name);
  });
}

interface Ended {
  readonly ran: readonly Ran[];
  /** The member whose end cancelled the others. */
  readonly decided?: number;
  /** The member whose end came last. */
  readonly last: number;
  /** The error of a journal that failed in one of them. */
  readonly lost?: { readonly error: unknown };
}

async function runAll(
  jobs: readonly Job[],
  { until, concurrency }: Group,
  run: CompositeRun,
): Promise<Ended> {
  const stop = interrupt<StopReason>();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was stopped has a reason
  const unlink = run.stop.onStop(() => stop.stop(run.stop.reason as StopReason));
  const turns = slots(concurrency);
  const ran: Ran[] = [];
  let decided: number | undefined;
  let last = 0;
  const waiting: RunWaits[] = [];
  let lost: Ended["lost"];
  let isWaiting = false;
  async function one(job: Job, index: number): Promise<void> {
    const leave = await turns.enter(undefined);
    ran[index] = {};
    try {
      if (stop.reason !== undefined || lost !== undefined || isWaiting) return; // those that have begun end, and are recorded if they can be
      const ended = await run.perform(job, stop);
      ran[index] = ended;
      last = index;
      lost ??= ended.lost;
      if (ended.lost !== undefined) return;
      const answered = ended.result?.outcome.type === "answered";
      if (ended.thrown !== undefined) await StepsOfRun.of(run.journal)?.replay?.others(); // no record says what it cancelled
      if (stop.reason === undefined && answered === (until === "answer")) {
        decided = index;
        const reason = `"${job.member.name}" ${answered ? "answered first" : "did not answer"}`;
        stop.stop({ type: "cancelled", reason });
      }
    } catch (error) {
      isWaiting = true;
      if (!(error instanceof RunWaits)) throw error;
      ran[index] = { inside: error.inside[0] };
      waiting[index] = error;
    } finally {
      leave?.();
    }
  }
  try {
    await waitForAll(jobs, one);
  } finally {
    unlink();
  }
  if (lost !== undefined) return { ran, last, lost };
  if (decided === undefined && waiting.length > 0) {
    ran.forEach(({ inside }) => run.count(inside)); // told when the run goes on
    throw waiting.reduce((all, each) => all.and(each));
  }
  return { ran, last, ...(decided === undefined ? {} : { decided }) };
}

/**
 * The record of a group that ended. A group that was stopped from outside, or in which a run threw, has none, and
 * can be run again.
 *
 * @throws Unanswered if it was stopped; the error that a run threw
 */
function settled({ ran, decided, last }: Ended, group: Group, run: CompositeRun): GroupRecord {
  throwIfStopped(run.stop);
  const inside = ran.map((one) => one.inside ?? null);
  if (group.until === "answer" && decided !== undefined) return { answered: [decided], inside };
  if (group.until === "failure" && decided === undefined) return { answered: [...ran.keys()], inside };
  const index = decided ?? last;
  const { outcome, reason } = failureOf(ran[index] ?? {});
  return { answered: [], failure: { index, outcome, reason }, inside };
}

/** Runs the members whose answers count again, from their own records; the spending of the others is counted against the bounds. */
async function replay(
  { answered, inside }: GroupRecord,
  { jobs, group, run }: { readonly jobs: readonly Job[]; readonly group: Group; readonly run: CompositeRun },
): Promise<readonly Ran[]> {
  const counts = new Set(answered);
  inside.forEach((one, index) => {
    if (one !== null && !counts.has(index)) run.spend(one.spending);
  });
  const again = jobs.filter((_job, index) => counts.has(index));
  const { ran, lost } = await runAll(again, { ...group, until: "failure" }, run);
  if (lost !== undefined) throw lost.error;
  return jobs.map((job) => ran[again.indexOf(job)] ?? {});
}
