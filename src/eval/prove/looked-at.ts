import type { Fact } from "../../event/event.ts";
import type { SimulatedOutcome } from "../simulate/view.ts";
import type { ProvenAgent, Way } from "./subject.ts";

/** A run as a sentence sees it: one that was begun, or one inside its calls. */
export interface LookedAt {
  readonly facts: readonly Fact[];
  /** The ways that the run may have taken: two tools of one skill may be made of agents of one name. */
  readonly ways: readonly Way[];
  /** The turn after which calls count as made after a source was read: in the run, in one inside its calls, or in one around it. */
  readonly readIn: number;
}

interface Telling {
  readonly run: SimulatedOutcome;
  readonly subject: ProvenAgent;
  readonly sources: readonly string[];
}

interface Place {
  readonly runId: string;
  readonly facts: readonly Fact[];
  /** The agent; undefined for the run that was begun. */
  readonly agent: string | undefined;
  /** The skills of the runs around it. */
  readonly around: readonly string[];
  /** True if a run around it had read a source before it began. */
  readonly hasRead: boolean;
}

/** A run, and all runs inside it. */
export function lookedAt(
  run: SimulatedOutcome,
  subject: ProvenAgent,
  sources: readonly string[],
): readonly LookedAt[] {
  const { runId, facts } = run;
  return within({ runId, facts, agent: undefined, around: [], hasRead: false }, { run, subject, sources });
}

function within(place: Place, telling: Telling): readonly LookedAt[] {
  const { runId, facts, agent, around, hasRead } = place;
  const { run, subject } = telling;
  const skill = facts.find((fact) => fact.type === "skill-chosen")?.skill;
  if (skill === undefined) return [];
  const skills = [...around, skill];
  const ways = subject.ways.filter((way) => isOf(way, agent, skills));
  const readIn = hasRead ? 0 : firstRead(place, telling);
  const inside = run.inside.filter(({ parentRunId }) => parentRunId === runId);
  return [
    { facts, ways, readIn },
    ...inside.flatMap((each) =>
      within(
        {
          runId: each.runId,
          facts: each.facts,
          agent: each.agent,
          around: skills,
          hasRead: each.turn > readIn,
        },
        telling,
      ),
    ),
  ];
}

function isOf(way: Way, agent: string | undefined, skills: readonly string[]): boolean {
  const isNamed = agent === undefined ? !way.isInside : way.agent === agent;
  return isNamed && way.skills.join("\n") === skills.join("\n");
}

/** The ends of calls for which the runtime writes the whole text that the model reads. */
const unread: ReadonlySet<string> = new Set([
  "denied",
  "invalid",
  "skipped",
  "cancelled",
  "timeout",
  "unknown",
]);

/** The first turn in which a result of a source was read, by the run or inside a call whose result it read. */
function firstRead({ runId, facts }: Pick<Place, "runId" | "facts">, telling: Telling): number {
  const { run, sources } = telling;
  const isRead = (callId: string): boolean =>
    run.inside.some(
      (each) => each.parentRunId === runId && each.callId === callId && firstRead(each, telling) < Infinity,
    );
  for (const fact of facts) {
    if (fact.type !== "tool-end" && fact.type !== "knowledge-used") continue;
    if (unread.has(fact.result.status)) continue;
    if (sources.includes(fact.name) || isRead(fact.callId)) return fact.turn;
  }
  return Infinity;
}
