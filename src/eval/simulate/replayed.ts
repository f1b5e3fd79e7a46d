import type { AgentEvent } from "../../event/event.ts";
import type { RunResult } from "../../agent/runnable.ts";
import type { DurableAround } from "../../durable/durable-options.ts";
import { pastOf, replayRun } from "../../durable/follow.ts";
import { messageOf } from "../../error/writ-error.ts";
import type { Message } from "../../message/message.ts";
import type { Evidence, Told } from "./evidence.ts";
import type { Stage } from "./play.ts";

/** Replays the durable runs that ended, from their records, and returns what a replay tells differently or does again. */
export async function replayFaults(evidence: Evidence, stage: Stage): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const told of evidence.told) faults.push(...(await faultsOf(told, evidence, stage)));
  return faults;
}

async function faultsOf(told: Told, evidence: Evidence, stage: Stage): Promise<readonly string[]> {
  const { run, outcome } = told;
  const { cluster, world, subject, handleOn } = evidence;
  const { id } = run;
  const machine = stage.desk; // the machine of the run may have died since
  const agent = stage.agents.get(machine);
  const stored = await cluster?.store.read(id);
  if (cluster === undefined || agent === undefined || stored?.end === undefined || subject.isRedeployed)
    return [];
  // The facts of a cancelled run depend on when its worker heard of it. A failed run has no result.
  if (
    outcome === undefined ||
    stored.end.outcome.type === "cancelled" ||
    stored.end.outcome.type === "failed"
  )
    return [];
  const did = [world.executions.length, world.counts.get("model")].join();
  const sessions = handleOn === undefined ? {} : { sessions: () => handleOn(machine) };
  const around = { store: cluster.store, host: machine.host, agents: [agent], ...sessions };
  let replayed: Replayed | undefined;
  const replaying = async (): Promise<void> => {
    try {
      const { facts, result } = await pastWithResult(id, around);
      replayed = { facts, messages: result.transcript.messages };
    } catch (error) {
      replayed = { threw: messageOf(error) };
    }
  };
  void replaying();
  await world.drive(() => replayed !== undefined);
  if ([world.executions.length, world.counts.get("model")].join() !== did)
    return [`the replay of ${id} did something`];
  const difference = replayed === undefined ? "it never ends" : differenceOf(told, replayed);
  return difference === undefined ? [] : [`the replay of ${id}: ${difference}`];
}

/** The facts and the result of one replay. @throws the error of the replay */
async function pastWithResult(
  id: string,
  around: DurableAround,
): Promise<{ readonly facts: readonly AgentEvent[]; readonly result: RunResult<unknown> }> {
  const facts: AgentEvent[] = [];
  const past = pastOf(id, around);
  for (;;) {
    const next = await past.next();
    if (next.done !== true) facts.push(next.value);
    else return { facts, result: next.value ?? (await replayRun(id, around)) };
  }
}

type Replayed =
  | { readonly facts: readonly AgentEvent[]; readonly messages: readonly Message[] }
  | { readonly threw: string };

/** The first thing that a replay tells differently. */
function differenceOf({ run, facts }: Told, replayed: Replayed): string | undefined {
  if ("threw" in replayed) return `it threw ${replayed.threw}`;
  const was = [
    ...facts.map(shown),
    ...(run.result?.transcript.messages ?? []).map((each) => JSON.stringify(each)),
  ];
  const is = [...replayed.facts.map(shown), ...replayed.messages.map((each) => JSON.stringify(each))];
  const place = was.findIndex((each, index) => each !== is[index]);
  if (place === -1 && was.length === is.length) return undefined;
  const at = place === -1 ? was.length : place;
  return `${was[at] ?? "nothing more"} became ${is[at] ?? "nothing more"}`;
}

/** A fact without its time of day. */
function shown({ at: _at, ...fact }: AgentEvent): string {
  return JSON.stringify(fact);
}
