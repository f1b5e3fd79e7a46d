import { placeOf } from "../agent/kept-beginning.ts";
import type { Json } from "../util/json.ts";
import { agentIn } from "./records-inside.ts";

/**
 * Finds the input of a run inside another one. Records keep only its hash, in the place of the run: the input is the value of `given` with this hash.
 * Undefined if none has it, for example if a tool made the question itself.
 */
export function inputOf(run: string, given: readonly Json[]): Json | undefined {
  const agent = agentIn(run);
  const place = run.slice(0, run.lastIndexOf("/"));
  return given.find((value) => value !== null && placeOf(agent, value) === place); // null stands for an input that is not JSON
}
