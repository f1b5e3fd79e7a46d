import { type AgentEvent, isFact } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import { SettledFacts } from "./settled-facts.ts";

/** Tells the facts of a run that a reader does not know, each once, and, if wanted, those of the runs inside it. */
export class NewFacts {
  private readonly id: string;
  private readonly isInside: boolean;
  /** The `seq` of the last told fact of each run. */
  private readonly last: Map<string, number>;
  private readonly inside = new Map<string, SettledFacts>();

  constructor(id: string, after: number | Readonly<Record<string, number>>, isInside: boolean) {
    this.id = id;
    this.isInside = isInside;
    this.last = new Map(Object.entries(typeof after === "number" ? { [id]: after } : after));
  }

  /** Takes the next event of a replay, and returns the facts that can be told now. */
  take(event: AgentEvent): readonly AgentEvent[] {
    if (!isFact(event) || (event.runId !== this.id && !this.isInside)) return [];
    const known = event.runId === this.id ? [event] : this.settled(event);
    return known.filter((fact) => this.isNew(fact));
  }

  private isNew({ runId, seq }: AgentEvent): boolean {
    if (seq <= (this.last.get(runId) ?? 0)) return false;
    this.last.set(runId, seq);
    return true;
  }

  /** The final facts of a run inside. If its records end, its end is one of the replay only: the run around it tells how it ended. */
  private settled(event: AgentEvent): readonly AgentEvent[] {
    const facts = this.inside.get(event.runId) ?? new SettledFacts();
    this.inside.set(event.runId, facts);
    if (event.type !== "run-end") return facts.take(event);
    this.inside.delete(event.runId);
    return isCutOff(event.outcome) ? [] : [...facts.held, event];
  }
}

/** Codes of a replay that reached the end of the records, or records of other code. */
const recordsEnd: ReadonlySet<string> = new Set(["journal-ended", "journal-longer", "journal-mismatch"]);

/** True of an end that the records of the run do not have: the run waits, or goes on elsewhere. */
function isCutOff(outcome: Outcome): boolean {
  if (outcome.type === "suspended") return outcome.field === "answers" || outcome.field === "handover";
  return outcome.type === "failed" && recordsEnd.has(outcome.code);
}
