/** Checks the happenings of a schedule against the table: each is a move of the machine of its run, or the machine refuses it. */
import type { AgentEvent, Fact } from "../../src/event/event.ts";
import type { Happening } from "../../src/eval/simulate/happening.ts";
import type { SimulatedRun } from "../../src/eval/simulate/simulated-run.ts";
import { isFact } from "../../src/event/event.ts";
import { callsOf, type Message } from "../../src/message/message.ts";
import { often, phases, verdicts } from "./table.ts";
import {
  approvalOf,
  outermost,
  runsOf,
  saysYes,
  statusIn,
  takenBy,
  type TracedCall,
  type TracedRun,
  type TracedTools,
} from "./trace.ts";
import { Twin } from "./twin.ts";
import { Unkept } from "./unkept.ts";

/** A bound that no schedule reaches, for processes that die and claims that are lost. */
const many = 200;

/** Takes all happenings of a schedule and returns the moves. @throws Error at the first one that the table does not have */
export function follow(
  happenings: readonly Happening[],
  ended: readonly SimulatedRun[],
  tools: TracedTools,
): readonly string[] {
  const runs = runsOf(happenings, ended, tools);
  const takes = new Map<string, number>();
  for (const happening of happenings) {
    const id = takenBy(happening);
    if (id !== undefined) takes.set(id, (takes.get(id) ?? 0) + 1);
  }
  const followed = runs.map((run) => new FollowedRun(run, takes.get(outermost(run.runId)) ?? 1, tools));
  happenings.forEach((happening, place) => {
    for (const run of followed)
      try {
        run.see(happening);
      } catch (error) {
        throw new Error(`${run.runId}, happening ${place} (${shown(happening)}): ${String(error)}`, {
          cause: error,
        });
      }
  });
  return followed.flatMap(({ moves }) => moves);
}

function shown(happening: Happening): string {
  if (happening.type === "tells") return `tells ${happening.event.type} of ${happening.event.runId}`;
  if (happening.type === "stored") return `stored ${happening.change.type}`;
  return happening.type;
}

/** A run on its way through the table. */
class FollowedRun {
  readonly runId: string;
  private readonly twin: Twin;
  private readonly run: TracedRun;
  private readonly tools: TracedTools;
  private readonly outer: string;
  /** The number of takes so far. Each take is an owner of the table, since it knows nothing of the memory of the one before. */
  private taken = 0;
  private readonly ownerOfEpoch = new Map<number, number>();
  private readonly ownerOnMachine = new Map<number, number>();
  private isDurable = false;
  private readonly lastFact = new Map<number, number>();
  /** Calls whose end was told and is not stored yet. */
  private readonly toldFirst = new Set<number>();
  private readonly unkept: Unkept;

  constructor(run: TracedRun, owners: number, tools: TracedTools) {
    const { runId, calls } = run;
    this.runId = runId;
    this.run = run;
    this.tools = tools;
    this.outer = outermost(runId);
    this.unkept = new Unkept(runId);
    this.twin = new Twin({ calls: calls.length, owners, crashes: many, thefts: many });
    calls.forEach(({ verdict, often }, place) => this.twin.take(`choose - ${place}`, verdict * 3 + often));
  }

  get moves(): readonly string[] {
    return this.twin.taken;
  }

  see(happening: Happening): void {
    switch (happening.type) {
      case "stored":
        if (happening.runId === this.outer) this.seeStored(happening.change);
        return;
      case "takes":
        if (happening.runId === this.outer) this.seeTaken(happening.machine);
        return;
      case "dies":
        this.seeDeath(happening.machine);
        return;
      case "hears-stop":
        if (happening.runId === this.outer) this.seeStop();
        return;
      case "answers":
        this.seeAnswer(
          this.placeOf(({ id }) => id === happening.callId),
          happening.isYes,
        );
        return;
      case "tells":
        if (happening.event.runId === this.runId)
          this.seeTold(happening.event, this.ownerOn(happening.machine));
        return;
      case "executes": {
        const { callId, runId, tookEffect } = happening.execution;
        if (runId !== this.runId) return;
        const call = this.placeOf(({ id }) => id === callId);
        if (call !== undefined) this.runs({ owner: this.ownerOn(happening.machine), call }, tookEffect);
      }
    }
  }

  private seeStored(change: Extract<Happening, { readonly type: "stored" }>["change"]): void {
    this.isDurable = true;
    this.unkept.see(change);
    if (this.twin.hasEnded) return;
    switch (change.type) {
      case "taken":
        this.ownerOfEpoch.set(change.epoch, this.taken);
        this.twin.take(`take ${this.taken} -`);
        this.taken += 1;
        return;
      case "kept":
        return this.seeKept(change.record, this.ownerOfEpoch.get(change.epoch) ?? 0);
      case "answered":
        return this.seeAnswer(
          this.placeOf(({ key }) => approvalOf(key) === change.key),
          saysYes(change.json),
        );
      case "left":
        return this.seeLeft(this.ownerOfEpoch.get(change.epoch) ?? 0);
      case "lost":
        if (this.value("claim") !== 0) this.twin.take("expire - -");
        return;
      case "cancelled":
        if (this.value("stopped") === 0) this.twin.take("stop - -");
        return;
      case "ended":
        if (this.runId === this.outer) this.finish(this.ownerOfEpoch.get(change.epoch) ?? 0);
    }
  }

  private seeTaken(machine: number): void {
    if (this.isDurable) {
      this.ownerOnMachine.set(machine, this.taken - 1);
      return;
    }
    this.ownerOnMachine.set(machine, 0);
    this.taken = 1;
    this.twin.take("take 0 -");
  }

  private seeDeath(machine: number): void {
    const owner = this.ownerOnMachine.get(machine);
    if (owner !== undefined && !this.twin.hasEnded) this.twin.take(`crash ${owner} -`);
  }

  private seeStop(): void {
    if (this.twin.hasEnded) return;
    if (this.value("stopped") === 0) this.twin.take("stop - -");
    if (this.value("heard", this.taken - 1) === 0) this.twin.take(`hear-stop ${this.taken - 1} -`);
  }

  /** A run is given up by its owner: it waits for a person, or another process goes on with it. */
  private seeLeft(owner: number): void {
    const waits = `leave ${owner} -`;
    this.twin.take(this.twin.can(waits) ? waits : `hand-over ${owner} -`);
  }

  /** An answer to a run that has ended has no effect. */
  private seeAnswer(call: number | undefined, isYes: boolean): void {
    if (call !== undefined && !this.twin.hasEnded)
      this.twin.take(`${isYes ? "approve" : "refuse"} - ${call}`);
  }

  private seeKept({ key, json }: { readonly key: string; readonly json?: string }, owner: number): void {
    const call = this.placeOf((one) => one.key === key);
    if (call === undefined) return;
    const at = { owner, call };
    if (json !== undefined) {
      if (!this.toldFirst.delete(call)) this.move(this.endOf(at, statusIn(json)), at);
    } else if (this.value("began", call) === 0) this.move("begin-once", at);
  }

  private seeTold(event: AgentEvent, owner: number): void {
    if (!isFact(event) || this.wasTold(event, owner)) return;
    if (event.type === "run-end" && !this.isOutermostDurable)
      this.unkept.take(() => this.finish(owner, event.outcome.type));
    if (!("callId" in event)) return;
    const call = this.placeOf(({ id }) => id === event.callId);
    if (call === undefined || this.twin.hasEnded) return;
    const at = { owner, call };
    if (event.type === "tool-end" || event.type === "knowledge-used") this.seeEnd(at, event.result.status);
    else if (!this.isToldAgain(at)) this.seeStep(event, at);
  }

  private seeEnd(at: At, status: string): void {
    if (this.value("claim") !== at.owner + 1) return;
    const isLater = this.isDurable && (keptLater.has(status) || this.phase(at) >= phases.begun); // it is told before it is stored
    if (!isLater) this.unkept.take(() => this.ends(at, status));
  }

  private isToldAgain(at: At): boolean {
    const { owner, call } = at;
    if (this.value("claim") !== owner + 1) return false;
    return (
      this.value("results", call) > 0 || (this.value("began", call) > 0 && this.phase(at) === phases.idle)
    );
  }

  private seeStep(event: Fact, at: At): void {
    if (event.type === "call-decided" && this.phase(at) === phases.idle) {
      this.move("propose", at);
      if (event.decision.verdict === "allow") this.move("allow", at);
    } else if (event.type === "tool-start" && this.isPlain(at)) this.move("begin", at);
    else if (event.type === "approval-request") this.move("ask", at);
    else if (event.type === "approval-answer" && event.approved) this.move("hear-yes", at);
  }

  /** Facts of an inner run come twice: from its own agent, and from the agent around it. */
  private wasTold({ type, seq }: AgentEvent, owner: number): boolean {
    const isAgain = type !== "run-start" && seq <= (this.lastFact.get(owner) ?? -1);
    if (!isAgain) this.lastFact.set(owner, seq);
    return isAgain;
  }

  private get isOutermostDurable(): boolean {
    return this.isDurable && this.runId === this.outer;
  }

  private isStoodInFor(call: number): boolean {
    return this.tools.standIns.has(this.run.calls[call]?.tool ?? "");
  }

  /** A call that may run again and has no stand-in: only its beginning is told. */
  private isPlain({ owner, call }: At): boolean {
    const isAgain = this.run.calls[call]?.often === often.again && !this.isStoodInFor(call);
    return isAgain && this.phase({ owner, call }) === phases.ready;
  }

  /** A call runs: one that an earlier process began was looked up before. */
  private runs(at: At, tookEffect: boolean): void {
    const isRepeatable = this.run.calls[at.call]?.often === often.again;
    if (this.phase(at) === phases.idle) {
      if (this.value("began", at.call) > 0) this.move("look-up", at);
      else if (isRepeatable) this.judgedEarly(at);
    }
    if (isRepeatable) this.move("begin", at);
    else if (!this.isDurable) this.move("begin-once", at); // without a journal, nothing outlives the process that could say so
    this.move(tookEffect ? "happen" : "miss", at);
  }

  /** A call begins while its reply is being written: it was judged, and its decision is told with the reply. */
  private judgedEarly(at: At): void {
    this.move("propose", at);
    this.move("allow", at);
  }

  /** A call has its result, the first time that it is told: a result that was stored is told again. */
  private ends(at: At, status: string): void {
    if (this.value("results", at.call) > 0) return;
    this.move(this.endOf(at, status), at);
    if (this.isDurable) this.toldFirst.add(at.call);
  }

  private endOf(at: At, status: string): string {
    if (this.phase(at) === phases.idle && this.value("began", at.call) > 0) return "lost";
    if (this.phase(at) === phases.idle) this.move("propose", at);
    if (this.phase(at) === phases.ready && hasRun.has(status) && !this.isStoodInFor(at.call))
      this.runs(at, true); // its run is seen only at its end
    if (this.phase(at) === phases.begun) this.move("miss", at); // its beginning was stored, and its tool was not called any more
    if (this.phase(at) >= phases.begun) return "record";
    if (status === "cancelled") this.stopItself(at.owner);
    return this.endUnbegun(at, status);
  }

  private endUnbegun(at: At, status: string): string {
    if (status === "cancelled") return "cancel";
    if (status === "denied" && this.phase(at) === phases.asked) return "hear-no";
    const isDenied = this.run.calls[at.call]?.verdict === verdicts.deny;
    if (status === "denied" && this.phase(at) === phases.proposed && isDenied) return "deny";
    return status === "denied" || status === "skipped" || status === "invalid" ? "skip" : "record";
  }

  /** A run stops itself when its time is over, or when its call has ended. */
  private stopItself(owner: number): void {
    const isStopped = this.value("stopped") === 1 || this.value("heard", owner) === 1;
    if (!isStopped && this.run.outcome?.type !== "answered") this.twin.take(`stop-itself ${owner} -`);
  }

  private finish(owner: number, outcome = this.run.outcome?.type): void {
    const isLeft = outcome === "suspended" || this.value("claim") !== owner + 1;
    if (this.twin.hasEnded || isLeft) return;
    this.run.calls.forEach(({ id }, call) => {
      const status = this.closed(id);
      if (status !== undefined && this.value("results", call) === 0) this.ends({ owner, call }, status);
    });
    this.twin.take(`finish ${owner} -`);
  }

  /**
   * The end of a call for which there is no fact, since its run ended early: the transcript has its result, or does not have the reply with the call, and so
   * no call that waits for a result. The transcript of an inner run is not kept.
   */
  private closed(id: string): string | undefined {
    const { outcome, messages } = this.run;
    if (outcome?.type === "answered") return undefined;
    if (this.runId !== this.outer) return "cancelled";
    const result = messages.find((message) => message.role === "tool" && message.callId === id);
    if (result?.role === "tool") return result.status;
    return messages.flatMap(callsIn).includes(id) ? undefined : "cancelled";
  }

  private ownerOn(machine: number): number {
    return this.ownerOnMachine.get(machine) ?? 0;
  }

  private placeOf(is: (call: TracedCall) => boolean): number | undefined {
    const place = this.run.calls.findIndex(is);
    return place === -1 ? undefined : place;
  }

  private move(name: string, { owner, call }: At): void {
    this.twin.take(`${name} ${owner} ${call}`);
  }

  private phase({ owner, call }: At): number {
    return this.value("phase", owner * this.run.calls.length + call);
  }

  private value(name: string, at = 0): number {
    const value = this.twin.value(name);
    return typeof value === "number" ? value : (value[at] ?? 0);
  }
}

/** The results of calls that ran. */
const hasRun: ReadonlySet<string> = new Set(["ok", "error", "timeout", "unknown"]);

/** Results that count once they are stored: where the process dies before that, the next one carries the call out as if it had never ended. */
const keptLater: ReadonlySet<string> = new Set([...hasRun, "cancelled"]);

/** A call of one owner. */
interface At {
  readonly owner: number;
  readonly call: number;
}

function callsIn(message: Message): readonly string[] {
  return message.role === "assistant" ? callsOf(message).map(({ id }) => id) : [];
}
