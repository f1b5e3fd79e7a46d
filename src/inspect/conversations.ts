import type { InspectedCall, InspectedInside, InspectedRun, PromptMessage } from "./view.ts";

/** The turns and messages of a run, or of one inside it. `key` is empty for the run itself. */
export interface Conversation extends Pick<InspectedInside, "key" | "agent" | "turns"> {
  readonly messages: readonly PromptMessage[];
  /** The number of runs around it: 0 for the run itself. */
  readonly depth: number;
}

/** Finds the conversations of a run: its own first, then those of the runs inside it, each before those inside itself. */
export function conversationsIn(view: InspectedRun): readonly Conversation[] {
  const own = { key: "", agent: view.run.agent, turns: view.turns, messages: messagesIn(view), depth: 0 };
  return [own, ...runsIn(view).flatMap((run) => below(run, 1))];
}

function below(run: InspectedInside, depth: number): readonly Conversation[] {
  return [
    { ...run, messages: messagesIn(run), depth },
    ...runsIn(run).flatMap((each) => below(each, depth + 1)),
  ];
}

const runsIn = ({ turns, inside }: Pick<InspectedRun, "turns" | "inside">): readonly InspectedInside[] => [
  ...turns.flatMap(({ calls }) => calls.flatMap((call) => call.inside ?? [])),
  ...inside,
];

/** The messages of a run, with the texts of results, which its calls have. */
function messagesIn({ turns, messages }: Pick<InspectedRun, "turns" | "messages">): readonly PromptMessage[] {
  const calls = new Map(turns.flatMap((turn) => turn.calls.map((call) => [call.key, call])));
  return messages.flatMap((message) => ("call" in message ? resultOf(calls.get(message.call)) : [message]));
}

function resultOf(call: InspectedCall | undefined): readonly PromptMessage[] {
  if (call?.result === undefined) return [];
  const { turn, tool: name, result, status, label } = call;
  const about = { ...(status === undefined ? {} : { status }), ...(label === undefined ? {} : { label }) };
  return [{ role: "tool", turn, name, text: result.text, ...about }];
}
