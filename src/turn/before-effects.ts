import type { ToolCall } from "../message/message.ts";
import { effectIn } from "../policy/allow-list.ts";
import { type End, endBy } from "../run/end.ts";
import type { Run } from "./state.ts";

/** The end when something forbids that the run begins to change things; asked where one of the calls is not known to look or compute. */
export async function beforeEffects(calls: readonly ToolCall[], run: Run): Promise<End | undefined> {
  const effectOf = effectIn(run.gate.allowed);
  if (calls.every(({ name }) => effectOf(name) === "none" || effectOf(name) === "read")) return undefined;
  try {
    await run.beforeEffect?.();
    return undefined;
  } catch (error) {
    return endBy(error, run);
  }
}
