import type { AgentEvent, Fact } from "../../event/event.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { Limits } from "../../policy/account/budget.ts";
import type { Tool } from "../../tool/tool.ts";
import { isFactEvent } from "./inside-run.ts";
import type { Played } from "./play.ts";
import type { SimulatedRun } from "./simulated-run.ts";

/** What is known of an agent before anything is played. */
export interface Subject {
  readonly name: string;
  readonly limits: Limits;
  /** Every tool, by its name, of agents inside too. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The tools in whose place another one stands: whatever is told of these, it did. */
  readonly standIns: ReadonlySet<string>;
  readonly listed: ReadonlyMap<string, ReadonlySet<string>>;
  /** A changed agent may go on with the runs. */
  readonly isRedeployed: boolean;
  /** The agent's compaction puts a summary in the place of what it drops. */
  readonly summarises: boolean;
  /** Hooks or recoveries of the author may change results, and run tools again. */
  readonly mends: boolean;
  /** Recoveries of the author may put arguments in the place of those that were cut. */
  readonly recovers: boolean;
  /** The author has a blocked call skip the rest of its turn. */
  readonly skipsAfterBlocked: boolean;
}

/** A run that was played, with what it told. */
export interface Told {
  readonly run: SimulatedRun;
  readonly facts: readonly (AgentEvent & Fact)[];
  readonly outcome: Outcome | undefined;
}

/** All that the invariants look at. */
export interface Evidence extends Played {
  readonly subject: Subject;
  readonly told: readonly Told[];
}

/** Collects what a schedule left. */
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
