import { replayedFacts } from "../durable/follow.ts";
import type { StoredRun } from "../durable/run-store.ts";
import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import { isFact } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import { callsOf } from "../message/message.ts";
import type { Decision } from "../policy/decision.ts";
import { bounded } from "./bounded.ts";
import type { RunsToInspect } from "./load-run.ts";
import { outcomeText } from "./list-run.ts";
import { type CallFacts, readFacts, type ReadFacts } from "./read-facts.ts";
import { type ReadRecords, readRecords } from "./read-records.ts";
import type { ReplayDifference, ReplayedRun } from "./view.ts";

/**
 * Replays a run from its records, and compares what its program tells now with the records. No model is asked and no tool called.
 *
 * @throws WritError `run-missing`, `run-agent-missing`
 */
export async function replayAgain(id: string, around: RunsToInspect): Promise<ReplayedRun> {
  const run = await around.store.read(id);
  if (run === undefined) throw new WritError("run-missing", { id });
  const read = readRecords(await around.store.records(id));
  const { facts, error } = await replayedFacts(id, around);
  const told = readFacts(facts.flatMap((event) => (isFact(event) ? [event] : [])));
  const difference =
    inCalls(read, told, error !== undefined) ?? inSteps(run, told, error) ?? inEnd(run, told);
  return {
    facts: facts.length,
    calls: [...told.turns.values()].reduce((sum, { calls }) => sum + calls.size, 0),
    hasEnded: run.end !== undefined,
    ...(difference === undefined ? {} : { difference }),
  };
}

/** The first call on which the program decides differently from the records. A replay that broke off tells ends of calls that it did not reach. */
function inCalls(read: ReadRecords, told: ReadFacts, isBroken: boolean): ReplayDifference | undefined {
  for (const [turn, asked] of [...read.models].toSorted(([one], [other]) => one - other)) {
    const reply = asked.at(-1)?.message;
    for (const [index, { id, name }] of (reply === undefined ? [] : callsOf(reply)).entries()) {
      const call = `turn/${turn}/call/${index}`;
      const kept = read.calls.get(call) ?? read.refusals.get(call);
      const facts = told.turns.get(turn)?.calls.get(id);
      const found = kept && facts && ofCall(kept, facts, isBroken);
      if (found !== undefined) return { at: `turn ${turn}, ${name}`, call, ...found };
    }
  }
  return undefined;
}

interface KeptCall {
  readonly decision?: Decision;
  readonly result: { readonly status: string };
}

function ofCall(
  { decision, result }: KeptCall,
  { decided, ended }: CallFacts,
  isBroken: boolean,
): Pick<ReplayDifference, "recorded" | "replayed"> | undefined {
  const now = decided.at(-1)?.decision;
  if (decision !== undefined && now !== undefined && ruling(decision) !== ruling(now))
    return { recorded: ruling(decision), replayed: ruling(now) };
  const status = ended?.result.status;
  if (status === undefined || status === result.status) return undefined;
  if (isBroken && (status === "skipped" || status === "unknown")) return undefined;
  return { recorded: `result ${result.status}`, replayed: `result ${status}` };
}

const ruling = ({ verdict, rule }: Decision): string => `${verdict} by ${rule}`;

/** The step at which the program asked for something else than is recorded. The records of a run that goes on just end. */
function inSteps({ end }: StoredRun, told: ReadFacts, error: unknown): ReplayDifference | undefined {
  if (isWritError(error, "journal-mismatch")) {
    const { key, parts } = error.data;
    return at(String(key), "a step made from another request", `its ${parts} changed`);
  }
  if (isWritError(error, "journal-longer"))
    return at(String(error.data.key), "a later turn", "the end of the run");
  if (isWritError(error, "journal-ended"))
    return end === undefined
      ? undefined
      : at(String(error.data.key), "no such step", "the program asks for it");
  return error === undefined || told.end !== undefined
    ? undefined
    : at("the replay", "a run that went on", messageOf(error));
}

const at = (key: string, recorded: string, replayed: string): ReplayDifference => ({
  at: key,
  ...(/^turn\/\d+\/call\/\d+/.test(key) ? { call: key.split("/").slice(0, 4).join("/") } : {}),
  recorded,
  replayed,
});

function inEnd({ end }: StoredRun, told: ReadFacts): ReplayDifference | undefined {
  if (end === undefined || told.end === undefined) return undefined;
  const [recorded, replayed] = [wordsOf(end.outcome), wordsOf(told.end.outcome)];
  return recorded === replayed ? undefined : at("the end", recorded, replayed);
}

const wordsOf = (outcome: Outcome): string => bounded(`${outcome.type}: ${outcomeText(outcome)}`);
