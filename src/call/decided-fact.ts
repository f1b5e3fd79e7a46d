import type { Fact } from "../event/event.ts";
import type { Prepared } from "./judge.ts";

/** What is told of a decision: also that its tool is code of strangers which nothing holds, and why the author lets it run. */
export function decidedFact(turn: number, { call, decision, ...rest }: Prepared): Fact {
  const coerced = "coerced" in rest && rest.coerced !== undefined ? { coerced: rest.coerced } : {};
  const reason = "tool" in rest ? rest.tool.unenforced : undefined;
  return {
    type: "call-decided",
    turn,
    callId: call.id,
    name: call.name,
    arguments: call.arguments,
    decision,
    ...coerced,
    ...(reason === undefined ? {} : { unenforced: reason }),
  };
}
