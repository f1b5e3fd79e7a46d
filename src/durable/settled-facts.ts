import { type AgentEvent } from "../event/event.ts";

/**
 * Tells the facts of a run that stay from those that may be told otherwise when it goes on. A run that is left, because it waits, is handed over or lost
 * its journal, tells the end of what it was in: of a turn, of a model call. And what is told beside an open question has another place once it is answered.
 */
export class SettledFacts {
  /** The facts since the last one that stays. */
  readonly held: AgentEvent[] = [];
  private asked: string | undefined;
  private isOpen = false;

  /** Takes the next fact, and gives those that stay by it. */
  take(fact: AgentEvent): readonly AgentEvent[] {
    this.held.push(fact);
    if (this.asked !== undefined) this.isOpen = !isAnswer(fact, this.asked);
    this.asked = !this.isOpen && fact.type === "approval-request" ? fact.callId : undefined;
    return this.isOpen || mayBeLeaving(fact) ? [] : this.held.splice(0);
  }
}

const isAnswer = (fact: AgentEvent, callId: string): boolean =>
  fact.type === "approval-answer" && fact.callId === callId;

/** True for what a run tells also when it is left. */
const mayBeLeaving = (fact: AgentEvent): boolean =>
  fact.type === "turn-end" || (fact.type === "message-end" && fact.message === undefined);
