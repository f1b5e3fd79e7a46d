import { type AgentEvent } from "../event/event.ts";

/**
 * Separates the final facts of a run from those that may change when it goes on. A run that stops here because it waits, is handed over or lost
 * its journal tells the ends of its turn and model call early. Facts told beside an open question get another place once it is answered.
 */
export class SettledFacts {
  /** The facts since the last final one. */
  readonly held: AgentEvent[] = [];
  private asked: string | undefined;
  private isOpen = false;

  /** Takes the next fact, and returns the facts that are final now. */
  take(fact: AgentEvent): readonly AgentEvent[] {
    this.held.push(fact);
    if (this.asked !== undefined) this.isOpen = !isAnswer(fact, this.asked);
    this.asked = !this.isOpen && fact.type === "approval-request" ? fact.callId : undefined;
    return this.isOpen || mayBeLeaving(fact) ? [] : this.held.splice(0);
  }
}

const isAnswer = (fact: AgentEvent, callId: string): boolean =>
  fact.type === "approval-answer" && fact.callId === callId;

/** True for a fact that a run also tells when it stops here. */
const mayBeLeaving = (fact: AgentEvent): boolean =>
  fact.type === "turn-end" || (fact.type === "message-end" && fact.message === undefined);
