import type { ToolCall, ToolResult } from "../message/message.ts";
import type { Excess } from "../policy/account/budget.ts";
import {
  type Act,
  addAct,
  mostTimes,
  proposedAgain,
  type Repeats,
  timesDone,
} from "../policy/account/repeats.ts";
import type { State } from "./state.ts";

/** Whether calls go on with a circle: they may run, are refused, or end the run. */
export type Circle =
  | { readonly type: "go" }
  | { readonly type: "refuse"; readonly reason: string; readonly act: Act }
  | { readonly type: "end"; readonly excess: Excess };

const go: Circle = { type: "go" };

/** Judges the calls of a turn by what came before. */
export function circleOf({ limits, repeats }: State, calls: readonly ToolCall[]): Circle {
  const limit = limits.repeats;
  const again = mostTimes(repeats) <= limit ? undefined : proposedAgain(repeats, calls);
  if (again === undefined || again.times <= limit) return go;
  const used = again.times;
  if (used <= limit + 1) {
    const reason = `the same calls brought the same results ${limit} times; they are not made again. Do something else, or answer`;
    return { type: "refuse", reason, act: again.act };
  }
  const message = `went in circles: the same calls would bring the same results for the ${used}th time, more than the budget of ${limit}`;
  return { type: "end", excess: { field: "repeats", limit, used, message } };
}

/** Remembers what a turn did. When a circle has come as often as the author allows, the model is told so with its last result. */
export function rememberAct(
  { limits, repeats }: State,
  act: Act,
  circle: Circle,
): { readonly results: readonly ToolResult[]; readonly repeats: Repeats } {
  const { results } = act;
  if (limits.repeats === Infinity) return { results, repeats };
  // What was refused counts as if it had brought the same again.
  const next = addAct(repeats, circle.type === "refuse" ? circle.act : act);
  const times = timesDone(next);
  if (circle.type !== "go" || times < 2 || times !== Math.floor(limits.repeats))
    return { results, repeats: next };
  return {
    results: results.map((result, index) => (index === results.length - 1 ? nudged(result, times) : result)),
    repeats: next,
  };
}

function nudged(result: ToolResult, times: number): ToolResult {
  const note = `[You have now had the same results ${times} times. Making the same calls again will not help: do something else, or answer.]`;
  return { ...result, text: `${result.text}\n${note}` };
}
