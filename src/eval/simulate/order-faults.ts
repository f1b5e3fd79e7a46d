import type { AgentEvent } from "../../event/event.ts";
import type { Outcome } from "../../event/outcome.ts";
import { callsOf } from "../../message/message.ts";
import { addUsage, noUsage } from "../../message/usage.ts";
import { sameJson } from "../../util/same-json.ts";
import type { Told } from "./evidence.ts";

/** Faults in the order of a run's facts: one is missing, a call has no end in its turn, ends come in another order than the calls, or usage does not add up. */
export function orderFaults({ run, facts }: Told): readonly string[] {
  const last = facts.at(-1);
  const end = last?.type === "run-end" ? last : undefined;
  const isOver = end !== undefined && !isLeft(end.outcome);
  const faults = [
    ...numberFaults(facts),
    ...turnFaults(facts, isOver),
    ...(isOver ? usageFaults(facts, end) : []),
  ];
  return faults.map((what) => `${run.id}: ${what}`);
}

/** Codes of ends after which calls may be open: somebody else ended the run, or has it, or it may be tried again. */
const leaving: ReadonlySet<string> = new Set(["run-ended", "run-taken", "session-conflict"]);

/** True of an end after which a run may go on. */
function isLeft(outcome: Outcome): boolean {
  return outcome.type === "suspended" || (outcome.type === "failed" && leaving.has(outcome.code));
}

function numberFaults(facts: readonly AgentEvent[]): readonly string[] {
  return facts.flatMap(({ type, seq }, place) => {
    const isMisplaced =
      (type === "run-start") !== (place === 0) || (type === "run-end" && place < facts.length - 1);
    if (seq === place + 1 && !isMisplaced) return [];
    return [`${type} is fact ${place + 1}, with the number ${seq}`];
  });
}

/** Faults in the ends of calls. A run that waits, or whose process died, has calls that end later. */
function turnFaults(facts: readonly AgentEvent[], isOver: boolean): readonly string[] {
  const faults: string[] = [];
  let turn = 0;
  let open: readonly string[] = [];
  facts.forEach((fact, place) => {
    if (!("turn" in fact)) return;
    const { type } = fact;
    const isLast = place >= facts.length - 2;
    if (type === "turn-start") turn += 1;
    if (fact.turn !== turn) faults.push(`${type} of turn ${fact.turn} is told in turn ${turn}`);
    if (type === "message-end")
      open = fact.message === undefined ? [] : callsOf(fact.message).map(({ id }) => id);
    if (type === "tool-end" || type === "knowledge-used") {
      if (fact.callId !== open[0]) faults.push(`${fact.callId} ends, and ${open[0] ?? "no call"} is to end`);
      open = open.slice(1);
    }
    if (type === "turn-end" && open.length > 0 && (isOver || !isLast))
      faults.push(`turn ${turn} ends without ${open.join(", ")}`);
  });
  return faults;
}

function usageFaults(
  facts: readonly AgentEvent[],
  { usage }: Extract<AgentEvent, { readonly type: "run-end" }>,
): readonly string[] {
  const told = facts.flatMap((fact) => {
    if (fact.type === "usage-add") return [fact.usage];
    return fact.type === "delegation-end" && fact.delegation.depth === 1 ? [fact.delegation.usage] : [];
  });
  const sum = told.reduce(addUsage, noUsage);
  return sameJson({ ...sum }, { ...usage })
    ? []
    : [`it used ${JSON.stringify(usage)}, and what was told adds up to ${JSON.stringify(sum)}`];
}
