import type { AgentEvent, Fact } from "../../event/event.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { Limits } from "../../policy/account/budget.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Execution } from "./execution.ts";
import { isFactEvent } from "./inside-run.ts";
import type { Played } from "./play.ts";
import type { SimulatedRun } from "./simulated-run.ts";

/** The facts known of an agent before anything is played. */
export interface Subject {
  readonly name: string;
  readonly limits: Limits;
  /** Every tool by name, including those of agents inside. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The tools of each agent, inside too, by its name: a tool inside may have the name of another one. */
  readonly toolsOf: ReadonlyMap<string, Subject["tools"]>;
  /** The agent's own tools with stand-ins: everything that its runs tell of these, the stand-in did. */
  readonly standIns: ReadonlySet<string>;
  readonly listed: ReadonlyMap<string, ReadonlySet<string>>;
  /** True if a changed agent may go on with the runs. */
  readonly isRedeployed: boolean;
  /** True if the agent's compaction replaces what it drops with a summary. */
  readonly summarises: boolean;
  /** True if hooks or recoveries of the author may change results, and run tools again. */
  readonly mends: boolean;
  /** True if recoveries of the author may replace arguments that were cut. */
  readonly recovers: boolean;
  /** True if the author has a blocked call skip the rest of its turn. */
  readonly skipsAfterBlocked: boolean;
}

/** The tool that was executed, as the agent has it that called it. */
export function toolOf({ toolsOf }: Pick<Subject, "toolsOf">, { agent, tool }: Execution): Tool | undefined {
  return toolsOf.get(agent)?.get(tool);
}

/** A run that was played, with the facts that it told. */
export interface Told {
  readonly run: SimulatedRun;
  readonly facts: readonly (AgentEvent & Fact)[];
  readonly outcome: Outcome | undefined;
}

/** Everything that the invariants check. */
export interface Evidence extends Played {
  readonly subject: Subject;
  readonly told: readonly Told[];
}

/** Collects the evidence of a schedule. */
export function evidenceOf(played: Played, subject: Subject): Evidence {
  const told = played.runs.map((run) => {
    const facts = (run.machine.heard.get(run.id) ?? []).filter(isFactEvent);
    const end = facts.findLast((fact) => fact.type === "run-end");
    return {
      run,
      facts,
      outcome: run.result?.outcome ?? (end?.type === "run-end" ? end.outcome : undefined),
    };
  });
  return { ...played, subject, told };
}
