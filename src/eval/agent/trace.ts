import type { AgentEvent } from "../../event/event.ts";
import type { Outcome } from "../../event/outcome.ts";
import { noUsage, type Usage } from "../../message/usage.ts";
import type { EvaluatedCall, EvaluatedRun } from "./eval-report.ts";

/** The part of a run that its events tell, also for a run that throws. */
type Traced = Pick<EvaluatedRun, "outcome" | "calls" | "turns" | "usage" | "costUsd">;

/** A run that is watched. */
export interface Trace {
  readonly see: (event: AgentEvent) => void;
  /** The run as its events told it so far. */
  readonly told: () => Traced;
}

/** Begins to watch a run. */
export function traceRun(): Trace {
  // In the order in which the calls were decided; a call that has not ended is undefined.
  const calls = new Map<string, EvaluatedCall | undefined>();
  const agents = new Map<string, string>();
  let root: string | undefined;
  let outcome: Outcome["type"] = "failed";
  let usage: Usage = noUsage;
  let turns = 0;
  let costUsd: number | undefined = 0;

  function seeCall(event: AgentEvent & { readonly callId: string }): void {
    const key = `${event.runId}/${event.callId}`;
    if (event.type !== "tool-end" && event.type !== "knowledge-used") {
      if (!calls.has(key)) calls.set(key, undefined);
      return;
    }
    const { name, arguments: args, result, runId } = event;
    const by = runId === root ? undefined : agents.get(runId);
    const call = { tool: name, arguments: args, status: result.status, result: result.text };
    calls.set(key, by === undefined ? call : { ...call, by });
  }

  return {
    see(event) {
      root ??= event.runId;
      if (event.type === "run-start") agents.set(event.runId, event.agent);
      if (event.type === "turn-start") turns += 1;
      if (event.type === "call-decided" || event.type === "tool-end" || event.type === "knowledge-used")
        seeCall(event);
      if (event.type === "usage-add")
        costUsd = costUsd === undefined || event.costUsd === undefined ? undefined : costUsd + event.costUsd;
      if (event.type !== "run-end" || event.runId !== root) return;
      outcome = event.outcome.type;
      usage = event.usage;
    },
    told: () => ({
      outcome,
      calls: [...calls.values()].filter((call) => call !== undefined),
      turns,
      usage,
      ...(costUsd === undefined ? {} : { costUsd }),
    }),
  };
}
