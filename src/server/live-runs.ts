import { isDeepStrictEqual } from "node:util";
import { SettledFacts } from "../durable/settled-facts.ts";
import { type AgentEvent, isFact } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";

/** The place of a reader: the `seq` of the last fact that it knows. */
export interface Reading {
  readonly after: number;
  readonly signal: AbortSignal;
  /** Ends the events also when the run waits for an answer. */
  readonly untilItWaits?: boolean;
}

/**
 * Events of the runs that this process carries out, while it has them: all facts of a run, the live events since the last fact, and the progress of calls
 * under way. Readers share them, so a slow reader needs no memory of its own: it gets the whole message if it was too late for its deltas.
 */
export class LiveRuns {
  private readonly runs = new Map<string, LiveRun>();
  private readonly awaited = new Map<string, Set<() => void>>();

  /** Takes each event of the process. A run that goes on tells its past first, so the events here begin at the beginning of the run. */
  readonly tell = (event: AgentEvent): void => {
    if (event.parentRunId !== undefined) return;
    const { runId: id } = event;
    if (event.type === "run-start") this.begin(event);
    const run = this.runs.get(id);
    if (event.type !== "run-end") return run?.tell(event);
    this.runs.delete(id); // the store says whether that is the end
    run?.leave(event);
  };

  get(id: string): LiveRun | undefined {
    return this.runs.get(id);
  }

  /** Calls `onHere` when this process has the run. Call the returned function to stop waiting. */
  await(id: string, onHere: () => void): () => void {
    const listeners = this.awaited.get(id) ?? new Set();
    this.awaited.set(id, listeners.add(onHere));
    if (this.runs.has(id)) onHere();
    return () => {
      listeners.delete(onHere);
      if (listeners.size === 0) this.awaited.delete(id);
    };
  }

  private begin(start: AgentEvent): void {
    const id = start.runId;
    this.runs.get(id)?.leave(start);
    this.runs.set(id, new LiveRun());
    for (const onHere of this.awaited.get(id) ?? []) onHere();
  }
}

/** A live event, with its number among those of its run. */
interface Live {
  readonly place: number;
  readonly event: AgentEvent;
}

/** A run while this process carries it out. */
export class LiveRun {
  private readonly facts: AgentEvent[] = [];
  private readonly settled = new SettledFacts();
  /** The live events since the last fact, after the progress of calls that began earlier and are still under way. */
  private tail: Live[] = [];
  private lives = 0;
  private end: AgentEvent | undefined;
  private readonly wakes = new Set<() => void>();

  tell(event: AgentEvent): void {
    if (isFact(event)) {
      this.facts.push(...this.settled.take(event));
      this.tail = leftBehind(event, this.tail);
    } else this.tail.push({ place: (this.lives += 1), event });
    this.wake();
  }

  /** Ends the events here: the run has ended, waits, or was given up, as `end` says. */
  leave(end: AgentEvent): void {
    this.end = end;
    this.wake();
  }

  /** The last facts after a `seq`, if the run ended here with this outcome; undefined otherwise. */
  ended(outcome: Outcome, seq: number): readonly AgentEvent[] | undefined {
    const { end } = this;
    if (end?.type !== "run-end" || !isDeepStrictEqual(end.outcome, outcome)) return undefined;
    return [...this.settled.held, end].filter((fact) => fact.seq > seq);
  }

  /** The facts after a `seq` and the current live events, each as soon as it is told; ends when the run leaves. @throws the reason of the signal */
  async *after({ after: seq, signal }: Reading): AsyncGenerator<AgentEvent, void> {
    let place = 0;
    let tail: readonly Live[] = [];
    let next = 0;
    let told = 0;
    for (;;) {
      signal.throwIfAborted();
      const fact = this.facts[place];
      if (fact !== undefined) {
        place += 1;
        if (fact.seq > seq) yield fact;
        continue;
      }
      if (tail !== this.tail) {
        ({ tail } = this);
        next = 0;
      }
      const live = tail[next];
      if (live !== undefined) {
        next += 1;
        if (live.place <= told) continue;
        told = live.place;
        if (live.event.seq >= seq) yield live.event;
      } else if (this.end !== undefined) return;
      else await this.more(signal);
    }
  }

  private async more(signal: AbortSignal): Promise<void> {
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const onAbort = (): void => wake();
    this.wakes.add(wake);
    signal.addEventListener("abort", onAbort);
    await promise;
    this.wakes.delete(wake);
    signal.removeEventListener("abort", onAbort);
  }

  private wake(): void {
    for (const wake of this.wakes) wake();
  }
}

/** The live events that a fact does not replace: the progress of each call that goes on. */
function leftBehind(fact: AgentEvent, tail: readonly Live[]): Live[] {
  if (fact.type === "turn-end") return [];
  const latest = new Map<string, Live>();
  for (const live of tail) if (live.event.type === "tool-progress") latest.set(live.event.callId, live);
  if (fact.type === "tool-end") latest.delete(fact.callId);
  return [...latest.values()];
}
