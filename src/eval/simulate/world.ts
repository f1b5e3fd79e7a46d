import type { AgentEvent } from "../../event/event.ts";
import type { Label } from "../../message/label.ts";
import type { Json } from "../../util/json.ts";
import type { Execution } from "./execution.ts";
import type { Happening } from "./happening.ts";
import type { Chooser, Deviation, Drawn, Point, Random } from "./schedule.ts";

/** A process of a simulation. A dead process does nothing any more: no promise that it waits for resolves. */
export interface SimulatedProcess {
  readonly number: number;
  isAlive: boolean;
}

/** A decision of a policy about a call. */
export interface Judgement {
  readonly agent: string;
  readonly callId: string;
  readonly tool: string;
  readonly verdict: string;
  /** Left out if a fact told it. */
  readonly label?: Label;
  readonly place: number;
}

/** A person's answer to a question, and whether it was taken. */
export interface Answered {
  /** The outermost run that asked: runs of one session may have calls of one id. */
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly question: string;
  readonly isYes: boolean;
  readonly isOther: boolean;
  /** The arguments that the person was shown. */
  readonly asked: Json;
  /** The arguments with which the person replaced the model's. */
  readonly edited?: Json;
  isTaken: boolean;
}

/** A fault that was found: the name of the invariant, and what was wrong. */
export interface Fault {
  readonly invariant: string;
  readonly message: string;
}

/** The moment at which a run was stopped: its time, and the number of executions that had begun. */
interface Stopped {
  readonly atMs: number;
  readonly begun: number;
}

type Decided = Extract<AgentEvent, { readonly type: "call-decided" }>;

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** The time at which every simulation begins: 1 January 2026. */
export const beginning = 1_767_225_600_000;

/** The most moments of a schedule: more than any schedule that ends has. */
const mostMoments = 3000;

/** The world of one schedule: its clock, its executions and its faults. It is discarded after the schedule. */
export class World {
  now: number = beginning;
  readonly trace: string[] = [];
  readonly executions: Execution[] = [];
  readonly judgements: Judgement[] = [];
  private readonly decisions: Map<string, string> = new Map();
  readonly answers: Answered[] = [];
  readonly faults: Fault[] = [];
  readonly counts: Map<string, number> = new Map();
  /** The runs that began while the one before went on. */
  readonly early: Set<string> = new Set();
  /** The calls of replies that were cut in the middle of them. */
  readonly cut: Set<string> = new Set();
  /** The calls of replies that broke off: the next reply takes over what the same call in the same place has begun. */
  readonly brokenOff: Set<string> = new Set();
  /** The questions of durable runs that wait for a person without a time limit. */
  readonly waiting: Map<string, { readonly runId: string; readonly tool: string }> = new Map();
  /** The time at which each run was stopped. */
  readonly stops: Map<string, Stopped> = new Map();
  /** Called with the deviation at a moment. */
  onMoment: ((deviation: Deviation) => void) | undefined;
  private readonly timers: Timer[] = [];
  /** Called with each happening, in order. Left out if nobody watches. */
  readonly watch: ((happening: Happening) => void) | undefined;
  private readonly chooser: Chooser;
  private order = 0;
  private moments = 0;

  constructor(chooser: Chooser, watch?: (happening: Happening) => void) {
    this.chooser = chooser;
    this.watch = watch;
  }

  get isDurable(): boolean {
    return this.chooser.durable;
  }

  get atMs(): number {
    return this.now - beginning;
  }

  /** Counts things by name, from 1. */
  count(name: string): number {
    const next = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, next);
    return next;
  }

  /** Keeps a decision that a fact told. */
  decided({ agent, callId, name, decision }: Decided, process: number): void {
    this.decisions.set(`${process} ${agent} ${callId} ${name}`, decision.verdict);
  }

  /** The decision about an execution that its own process told, because others may have other calls of this id. Undefined if the process died before. */
  decisionOn({ process, agent, callId, tool }: Execution): string | undefined {
    return this.decisions.get(`${process} ${agent} ${callId} ${tool}`);
  }

  stopped(runId: string): void {
    this.stops.set(runId, { atMs: this.atMs, begun: this.executions.length });
  }

  note(line: string): void {
    this.trace.push(`${this.now - beginning} ${line}`);
  }

  choose(point: Point, draw: (random: Random) => Drawn | undefined): Deviation | undefined {
    const deviation = this.chooser.choose(point, draw);
    if (deviation !== undefined) this.note(`${point.at}: ${shownDeviation(deviation)}`);
    return deviation;
  }

  fault(invariant: string, message: string): void {
    this.faults.push({ invariant, message });
  }

  /** Calls `fire` after a time. Calls into the runtime must be bound to the code that started the timer, as timers of Node are. */
  timer(afterMs: number, fire: () => void): () => void {
    const timer = { at: this.now + Math.max(0, afterMs), order: (this.order += 1), fire };
    this.timers.push(timer);
    return () => {
      const place = this.timers.indexOf(timer);
      if (place !== -1) this.timers.splice(place, 1);
    };
  }

  /** Lets everything happen until `isDone`. False if nothing is left that could happen. */
  async drive(isDone: () => boolean): Promise<boolean> {
    for (let idle = 0; idle < 3;) {
      await settled();
      if (isDone()) return true;
      if (this.next()) idle = 0;
      else {
        idle += 1;
        await new Promise((resolve) => setImmediate(resolve)); // a tool of the author's own may use the real world
      }
    }
    return false;
  }

  /** Lets everything happen that is left, without new deviations. */
  async drain(): Promise<void> {
    this.onMoment = undefined;
    do await settled();
    while (this.next());
  }

  private next(): boolean {
    let next: Timer | undefined;
    for (const timer of this.timers)
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        next = timer;
    if (next === undefined || this.moments > mostMoments) return false;
    this.moments += 1;
    this.timers.splice(this.timers.indexOf(next), 1);
    this.now = Math.max(this.now, next.at);
    this.moment();
    next.fire();
    return true;
  }

  private moment(): void {
    if (this.onMoment === undefined) return;
    const deviation = this.choose({ kind: "moment", at: `moment ${this.moments}` }, (random) => ({
      does: this.isDurable && random() < 0.5 ? "hands-over" : "stops",
    }));
    if (deviation !== undefined) this.onMoment?.(deviation);
  }
}

/** Resolves once everything that needs no timer has happened: Node calls it when no microtask is left. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** A promise that never resolves. */
export function never<Value>(): Promise<Value> {
  return new Promise(() => undefined);
}

function shownDeviation({ does, calls, arguments: args, ms }: Deviation): string {
  const more = calls ?? args;
  return `${does}${ms === undefined ? "" : ` ${ms} ms`}${more === undefined ? "" : ` ${JSON.stringify(more)}`}`;
}

/** Facts and other events of the runs that one machine carries out, by run. */
export type Heard = Map<string, AgentEvent[]>;
