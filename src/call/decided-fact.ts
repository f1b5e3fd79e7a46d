import type { Fact } from "../event/event.ts";
import type { Decision } from "../policy/decision.ts";
import type { Fate } from "./call.ts";

/** The fact of a decision: also that the tool is code of strangers which nothing holds, and why the author lets it run. */
export function decidedFact(fate: Fate, decision: Decision, turn: number): Fact {
  const { id: callId, name, arguments: args } = fate.call;
  const fact = { type: "call-decided", turn, callId, name, arguments: args, decision } as const;
  if (fate.type === "refused") return fact;
  const { coerced, tool } = fate;
  return {
    ...fact,
    ...(coerced === undefined ? {} : { coerced }),
    ...(tool.unenforced === undefined ? {} : { unenforced: tool.unenforced }),
  };
}
