import type { InspectedInside, InspectedRun } from "./view.ts";

/** The turns and messages of a run, or of one inside it. `key` is empty for the run itself. */
export interface Conversation extends Pick<InspectedInside, "key" | "agent" | "turns" | "messages"> {
  /** The number of runs around it: 0 for the run itself. */
  readonly depth: number;
}

/** Finds the conversations of a run: its own first, then those of the runs inside it, each before those inside itself. */
export function conversationsIn(view: InspectedRun): readonly Conversation[] {
  const own = { key: "", agent: view.run.agent, turns: view.turns, messages: view.messages, depth: 0 };
  return [own, ...runsIn(view).flatMap((run) => below(run, 1))];
}

function below(run: InspectedInside, depth: number): readonly Conversation[] {
  return [{ ...run, depth }, ...runsIn(run).flatMap((each) => below(each, depth + 1))];
}

const runsIn = ({ turns, inside }: Pick<InspectedRun, "turns" | "inside">): readonly InspectedInside[] => [
  ...turns.flatMap(({ calls }) => calls.flatMap((call) => call.inside ?? [])),
  ...inside,
];
