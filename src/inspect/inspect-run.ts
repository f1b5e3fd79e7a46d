import type { AgentManifest, ToolManifest } from "../agent/describe/manifest-data.ts";
import type { StoredRun } from "../durable/run-store.ts";
import { bounded } from "./bounded.ts";
import { criticalPath } from "./critical-path.ts";
import { budgetsOf } from "./inspect-budgets.ts";
import { inspectSteps, inspectTurns, type Making, timesOf } from "./inspect-turn.ts";
import type { KnownRun } from "./known-run.ts";
import { outcomeText, summaryOf } from "./list-run.ts";
import { firstMessages, remarkOf } from "./prompt.ts";
import { readFacts, type ReadFacts } from "./read-facts.ts";
import { readRecords } from "./read-records.ts";
import { recordsInside } from "./records-inside.ts";
import type { InspectedCall, InspectedInside, InspectedRun, InspectedTurn, SentMessage } from "./view.ts";

/** Makes the view of one run. */
export function inspectRun(known: KnownRun): InspectedRun {
  const { run, records, questions, manifest, instructions, places, notes = [], now } = known;
  const read = readRecords(records);
  const facts = known.facts === undefined ? undefined : readFacts(known.facts);
  const messages: SentMessage[] = firstMessages(run.input, instructions);
  const from = read.begunAt ?? run.begunAt; // a fork has the times of its run until its turn
  const making: Making = {
    prefix: "",
    read,
    inside: recordsInside(records),
    facts,
    tools: toolsOf(manifest),
    questions,
    messages,
    input: run.input,
    isOver: run.end !== undefined,
    begunAt: from,
    now,
    dropped: 0,
  };
  const turns = inspectTurns(making);
  const inside = inspectSteps(making);
  const usage = run.end?.usage ?? facts?.end?.usage;
  return {
    run: summaryOf(run, read, questions),
    input: run.input,
    ...(run.fork === undefined ? {} : { fork: run.fork }),
    source: facts === undefined ? "records" : "replay",
    notes: [...notes, ...gapsOf(turns, facts !== undefined)],
    from,
    to: Math.max(from, run.endedAt ?? (isOver(run) ? from : now), ...timesIn(turns, inside)),
    turns,
    inside,
    messages,
    budgets: budgetsOf({ known, read, turns, from }),
    critical: criticalPath([...turns, ...turnsInside(inside)]),
    ...(manifest === undefined ? {} : { grants: manifest.grants }),
    ...(places === undefined ? {} : { places }),
    ...(run.end === undefined
      ? {}
      : { outcome: { type: run.end.outcome.type, text: bounded(outcomeText(run.end.outcome)) } }),
    ...(usage === undefined ? {} : { usage }),
    ...costOf(turns),
    remarks: remarksOf(facts),
  };
}

const isOver = ({ status }: StoredRun): boolean => status === "moved" || status === "ready";

function toolsOf(manifest: AgentManifest | undefined): ReadonlyMap<string, ToolManifest> {
  return new Map(Object.values(manifest?.skills ?? {}).flatMap(({ tools }) => Object.entries(tools)));
}

const timesIn = (turns: readonly InspectedTurn[], inside: readonly InspectedInside[]): readonly number[] => [
  ...turns.flatMap(timesOf),
  ...inside.map(({ to }) => to),
];

/** The turns of compositions: of their steps, and of steps within these, but not of runs inside calls. */
const turnsInside = (inside: readonly InspectedInside[]): readonly InspectedTurn[] =>
  inside.flatMap((run) => [...run.turns, ...turnsInside(run.inside)]);

function costOf(turns: readonly InspectedTurn[]): { readonly costUsd?: number } {
  const costs = turns.flatMap(({ model }) => (model?.costUsd === undefined ? [] : [model.costUsd]));
  return costs.length === 0 ? {} : { costUsd: costs.reduce((sum, cost) => sum + cost, 0) };
}

const isUnexplained = ({ state, decision }: InspectedCall): boolean =>
  state === "refused" && decision === undefined;

/** The facts that are not in the records of a run, if its program is missing. */
function gapsOf(turns: readonly InspectedTurn[], isReplayed: boolean): readonly string[] {
  if (isReplayed || !turns.some(({ calls }) => calls.some(isUnexplained))) return [];
  return [
    "Why a call did not run stands in no record, since an earlier version made them: name the agent's program, `writ inspect agent.ts`, and the run is replayed with it, which asks no model and calls no tool.",
  ];
}

function remarksOf(facts: ReadFacts | undefined): InspectedRun["remarks"] {
  return (facts?.others ?? []).flatMap((fact) => {
    const text = remarkOf(fact);
    return text === undefined ? [] : [{ turn: "turn" in fact ? fact.turn : 0, text }];
  });
}
