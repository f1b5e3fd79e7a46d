import type { Fact } from "../event/event.ts";

type Told<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** The facts of a run about one call. */
export interface CallFacts {
  /** The decisions, in order: a call whose arguments a person changed is judged twice. */
  readonly decided: Told<"call-decided">[];
  asked?: Told<"approval-request">;
  answered?: Told<"approval-answer">;
  started?: Told<"tool-start">;
  ended?: Told<"tool-end"> | Told<"knowledge-used">;
  readonly looks: Told<"capability-checked">[];
  readonly delegations: Told<"delegation-end">[];
  hooked?: Told<"hook-end">;
}

/** The facts of a run about one turn. */
export interface TurnFacts {
  message?: Told<"message-end">;
  usage?: Told<"usage-add">;
  readonly retries: Told<"retry-start">[];
  readonly calls: Map<string, CallFacts>;
  dropped: number;
}

/** The facts of a run, by turn and call, and all others. */
export interface ReadFacts {
  readonly turns: ReadonlyMap<number, TurnFacts>;
  readonly others: readonly Fact[];
  readonly end?: Told<"run-end">;
}

const noTurn = (): TurnFacts => ({ retries: [], calls: new Map(), dropped: 0 });
const noCall = (): CallFacts => ({ decided: [], looks: [], delegations: [] });

/** Sorts the facts of a run. */
export function readFacts(facts: readonly Fact[]): ReadFacts {
  const turns = new Map<number, TurnFacts>();
  const others: Fact[] = [];
  let end: Told<"run-end"> | undefined;
  for (const fact of facts) {
    if (fact.type === "run-end") end = fact;
    if (!("turn" in fact)) {
      others.push(fact);
      continue;
    }
    const turn = turns.get(fact.turn) ?? noTurn();
    turns.set(fact.turn, turn);
    if ("callId" in fact && fact.callId !== undefined) takeCall(callIn(turn, fact.callId), fact);
    else if (!takeTurn(turn, fact)) others.push(fact);
  }
  return { turns, others, ...(end === undefined ? {} : { end }) };
}

function callIn({ calls }: TurnFacts, callId: string): CallFacts {
  const known = calls.get(callId);
  if (known !== undefined) return known;
  const call = noCall();
  calls.set(callId, call);
  return call;
}

/** Keeps a fact of a turn. False for a fact that does not belong to a turn. */
function takeTurn(turn: TurnFacts, fact: Fact): boolean {
  if (fact.type === "message-end") turn.message = fact;
  else if (fact.type === "usage-add") turn.usage = fact;
  else if (fact.type === "retry-start") turn.retries.push(fact);
  else if (fact.type === "compaction-end") turn.dropped += fact.droppedTurns;
  else return fact.type === "turn-start" || fact.type === "turn-end";
  return fact.type !== "compaction-end";
}

function takeCall(call: CallFacts, fact: Fact): void {
  if (fact.type === "call-decided") call.decided.push(fact);
  else if (fact.type === "approval-request") call.asked = fact;
  else if (fact.type === "approval-answer") call.answered = fact;
  else if (fact.type === "capability-checked") call.looks.push(fact);
  else if (fact.type === "delegation-end") call.delegations.push(fact);
  else if (fact.type === "tool-start") call.started = fact;
  else if (fact.type === "tool-end" || fact.type === "knowledge-used") call.ended = fact;
  else if (fact.type === "hook-end") call.hooked = fact;
}
