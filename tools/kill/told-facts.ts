import { type AgentEvent, isFact, memoryJournal, session } from "../../src/index.ts";
import type { JournalRecord } from "../../src/doors.ts";
import type { SessionStore } from "../../src/session.ts";
import { bossOf } from "./boss.ts";

/** The facts of one run, by their numbers. */
export class ToldFacts {
  private readonly runId: string;
  private readonly bySeq = new Map<number, AgentEvent>();

  constructor(runId: string) {
    this.runId = runId;
  }

  readonly take = (event: AgentEvent): void => {
    if (event.runId === this.runId && isFact(event)) this.bySeq.set(event.seq, event);
  };

  get all(): readonly AgentEvent[] {
    return [...this.bySeq.values()].toSorted((one, other) => one.seq - other.seq);
  }

  /** Each fact with all of its fields, except its time. */
  get whole(): readonly string[] {
    return this.all.map((fact) => JSON.stringify({ ...fact, at: 0 }));
  }

  /** A line for each fact, with all that must be the same in every run like this one. */
  get lines(): readonly string[] {
    return this.all.map(lineOf);
  }
}

function lineOf(fact: AgentEvent): string {
  const { seq, type } = fact;
  const call = "callId" in fact ? [fact.callId] : [];
  const name = "name" in fact ? [fact.name] : [];
  const decision = "decision" in fact ? [fact.decision.verdict, fact.decision.rule] : [];
  const answer = "approved" in fact ? [String(fact.approved)] : [];
  const outcome = "outcome" in fact ? [fact.outcome.type] : [];
  const status = "result" in fact ? [fact.result.status] : [];
  return [seq, type, ...call, ...name, ...decision, ...answer, ...outcome, ...status].join(" ");
}

/**
 * What is wrong with a replay of the run from its records, with a model, tools, hooks and a session that fail when they are touched: each touch, and each
 * fact that is not the one that was told. Told nothing, a process finds the facts in the replay.
 */
export async function replayFaults(
  records: readonly JournalRecord[],
  runId: string,
  { told, inSession }: { readonly told: ToldFacts; readonly inSession: boolean },
): Promise<readonly string[]> {
  const faults: string[] = [];
  const touch = (what: string): never => {
    faults.push(`the replay touched ${what}`);
    throw new Error(what);
  };
  const again = new ToldFacts(runId);
  const sessions = new Proxy({}, { get: (_, name) => () => touch(`the session: ${String(name)}`) });
  await bossOf(touch, touch)
    .run("Go", {
      journal: memoryJournal(records, { mode: "replay" }),
      runId,
      onEvent: again.take,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- none of it may be used
      ...(inSession ? { session: session(sessions as SessionStore, "talk") } : {}),
    })
    .catch((error: unknown) => faults.push(`the replay fails: ${String(error)}`));
  if (told.all.length === 0) for (const fact of again.all) told.take(fact);
  const [one, other] = [told.whole, again.whole];
  for (let place = 0; place < Math.max(one.length, other.length); place += 1)
    if (one[place] !== other[place]) faults.push(`replayed as ${other[place]}: ${one[place]}`);
  return faults.slice(0, 3);
}
