import { type AgentEvent, type Fact, isFact } from "../../event/event.ts";
import type { Machine } from "./machine.ts";

/** A run inside a call of another one, of an agent that is a tool. */
export interface SimulatedInside {
  readonly runId: string;
  readonly agent: string;
  /** The run with the call that it is inside. */
  readonly parentRunId: string;
  /** That call, and its turn. */
  readonly callId: string;
  readonly turn: number;
  readonly facts: readonly Fact[];
}

/** The runs inside the calls of a run, as the last machines that had them tell them. */
export function insideRun(outer: string, machines: readonly Machine[]): readonly SimulatedInside[] {
  const known = new Map<string, SimulatedInside>();
  for (const { heard } of machines)
    for (const [runId, events] of heard) {
      const [first] = events;
      const { parentRunId, agent } = first ?? {};
      if (parentRunId === undefined || agent === undefined || !runId.startsWith(`${outer}/`)) continue;
      const call = callAround(runId, heard.get(parentRunId) ?? []);
      if (call !== undefined)
        known.set(runId, { runId, agent, parentRunId, ...call, facts: events.filter(isFactEvent) });
    }
  return [...known.values()];
}

/** The call that a run is inside, as the run around it tells it. */
function callAround(
  runId: string,
  around: readonly AgentEvent[],
): Pick<SimulatedInside, "callId" | "turn"> | undefined {
  for (const event of around) {
    if (event.type !== "delegation-start" && event.type !== "delegation-end") continue;
    const { delegation, callId, turn } = event;
    if (delegation.runId === runId) return { callId, turn };
  }
  return undefined;
}

/** True of an event that is a fact. */
export function isFactEvent(event: AgentEvent): event is AgentEvent & Fact {
  return isFact(event);
}
