import type { Runnable, RunResult } from "../../agent/runnable.ts";
import { misfitOf } from "../../call/ask.ts";
import { carryOut, type Carrying } from "../../durable/carry-out.ts";
import { type DurableRuns, durableRunsWith } from "../../durable/durable-runs.ts";
import type { DurableAround } from "../../durable/durable-options.ts";
import type { Cluster } from "./cluster.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { NewRun, WaitingQuestion } from "../../durable/run-store.ts";
import { isWritError } from "../../error/writ-error.ts";
import type { JsonObject } from "../../util/json.ts";
import { dyingJournal } from "./dying-journal.ts";
import type { Machine } from "./machine.ts";
import { drawAnswer, drawSignal, signalValue } from "./person.ts";
import type { Deviation } from "./schedule.ts";
import type { RunAsked, SimulatedRun } from "./simulated-run.ts";

/** The time until the death of a process is noticed. */
const noticedMs = 1000;

/** The time until a worker hears that its run was cancelled. */
export const heardMs = 30;

/** A durable run: kept in a store, carried out by one process after another. */
export class DurableRun implements SimulatedRun {
  readonly id: string;
  machine: Machine;
  isDone = false;
  result: RunResult<unknown> | undefined;
  thrown: unknown;
  /** The end in its store. */
  end: Outcome | undefined;
  private readonly asked: RunAsked;
  private readonly cluster: Cluster;
  private readonly known = new Set<string>();
  private carrying: Carrying | undefined;
  /** The number of processes that have had it: only the last one is heard. */
  private turn = 0;

  constructor(asked: RunAsked, cluster: Cluster, stored: NewRun) {
    const { machine } = cluster;
    this.id = asked.id;
    this.asked = asked;
    this.cluster = cluster;
    this.machine = machine;
    void cluster.store.begin(stored).then(() => this.goOn());
  }

  /** The runs as the desk sees them. */
  private get runs(): DurableRuns {
    const { store, desk, accept } = this.cluster;
    return durableRunsWith({ store, agents: [this.asked.agentOn(desk)], accept }, desk.host);
  }

  stop(): void {
    this.cluster.world.note(`${this.id} is cancelled`);
    void this.runs.cancel(this.id, "the caller stopped it").then(({ status }) => {
      if (status === "cancelled") this.cluster.world.stopped(this.id);
      this.cluster.world.timer(heardMs, () => this.hearStop());
      if (this.carrying === undefined) void this.goOn();
    });
  }

  private hearStop(): void {
    if (this.carrying === undefined) return;
    this.cluster.world.watch?.({ type: "hears-stop", runId: this.id });
    this.carrying.look();
  }

  handOver(): void {
    this.carrying?.leave();
  }

  /** Reads the end in the store once more: a late process may have written another one. */
  async lookAgain(): Promise<void> {
    const run = await this.cluster.store.read(this.id);
    if (run?.end !== undefined) this.end = run.end.outcome;
  }

  /** Loses its process, which is dead or taken for dead: another one goes on. */
  lose(): void {
    const { world, store } = this.cluster;
    this.turn += 1;
    this.carrying = undefined;
    store.lose(this.id);
    world.timer(noticedMs, () => void this.goOn());
  }

  /** Goes on with the run where it is: carries it out, has a person answer, or sees that it has ended. */
  private async goOn(): Promise<void> {
    const { store, world } = this.cluster;
    if (this.carrying !== undefined || this.isDone) return;
    const journal = await store.claim([this.asked.agentOn(this.cluster.machine).name], this.id);
    if (journal === undefined) {
      const run = await store.read(this.id);
      if (run?.end !== undefined && !this.isDone) {
        this.isDone = true;
        this.end = run.end.outcome;
        world.note(`${this.id} ends: ${JSON.stringify(run.end.outcome)}`);
      } else if (run?.status === "waiting") await this.askPeople();
      return;
    }
    const turn = (this.turn += 1);
    const { machine } = this.cluster; // the one before may have died while the store was asked
    this.machine = machine;
    world.note(`process ${machine.number} takes ${this.id}`);
    world.watch?.({ type: "takes", runId: this.id, machine: machine.number });
    const dying = dyingJournal(journal, machine, {
      hasSpare: () => this.cluster.hasSpare,
      die: () => this.cluster.die(machine),
      stall: () => this.cluster.moveOn(() => this.lose()),
      onQuestion: () => void this.askPeople(),
    });
    const carrying = carryOut(dying, this.aroundOn(machine, turn));
    if (this.turn === turn) this.carrying = carrying;
    await carrying.done;
    if (this.turn !== turn) return; // it was taken for dead, and another process has the run
    this.carrying = undefined;
    await this.goOn();
  }

  private aroundOn(machine: Machine, turn: number): DurableAround {
    const { agentOn, session } = this.asked;
    const agent = agentOn(machine);
    return {
      store: this.cluster.store,
      accept: this.cluster.accept,
      host: machine.host,
      agents: [this.noting(agent, turn)],
      ...(session === undefined ? {} : { sessions: () => session(machine) }),
    };
  }

  /** The agent, with its results kept, because a worker does not use them. */
  private noting(agent: Runnable, turn: number): Runnable {
    const run: Runnable["run"] = async (input, options) => {
      this.result = undefined;
      this.thrown = undefined;
      try {
        const result = await agent.run(input, options);
        if (this.turn === turn) this.result = result;
        return result;
      } catch (error) {
        if (this.turn === turn) this.thrown = error;
        throw error;
      }
    };
    const { description, name } = agent;
    const stream: Runnable["stream"] = (input, options) => agent.stream(input, options);
    const called = async (input: never): Promise<unknown> => (await run(input)).output; // every runnable can be called like this, although a worker does not
    return Object.assign(Object.defineProperty(called, "name", { value: name }), {
      description,
      run,
      stream,
    });
  }

  /** Has people answer the new questions. */
  private async askPeople(): Promise<void> {
    const { store, world } = this.cluster;
    for (const question of await store.questions(this.id)) {
      if (this.known.has(question.key)) continue;
      this.known.add(question.key);
      const { tool, arguments: args, waitsFor } = question.request;
      if (waitsFor === "time") {
        world.note(`${this.id} sleeps in ${tool}`);
        this.expireLater(question, false);
        continue;
      }
      const at = `person ${world.count("person")}`;
      if (question.until === undefined)
        world.waiting.set(`${this.id} ${question.key}`, { runId: this.id, tool });
      world.note(
        `${at} is asked ${waitsFor === undefined ? "about" : `for the signal ${waitsFor.signal} of`} ${tool} ${JSON.stringify(args)}`,
      );
      const deviation = world.choose({ kind: "person", at }, (random) =>
        waitsFor === undefined ? drawAnswer(random, question.request, true) : drawSignal(random),
      );
      this.expireLater(question, deviation?.does === "keeps-silent");
      if (deviation?.does === "keeps-silent") continue;
      world.timer(1000 + (deviation?.ms ?? 0), () => void this.answer(question, deviation));
    }
  }

  /** Has its time answer a question that nobody answers; a question without a time leaves the run where it is, until the run is cancelled. */
  private expireLater({ until }: WaitingQuestion, isSilent: boolean): void {
    const { store, world } = this.cluster;
    if (until !== undefined)
      world.timer(until - world.now, () => void store.expire().then(() => this.goOn()));
    else if (isSilent) world.timer(noticedMs, () => this.stop());
  }

  private async answer(question: WaitingQuestion, deviation: Deviation | undefined): Promise<void> {
    const { request } = question;
    this.cluster.world.waiting.delete(`${this.id} ${question.key}`); // somebody answers, whether the answer is taken or not
    if (request.unsettled === true) await this.settle(question);
    else if (request.waitsFor !== undefined) await this.signal(question);
    else {
      const isYes = deviation?.does !== "refuses";
      const args = deviation?.does === "edits" ? deviation.arguments : undefined;
      if (deviation?.does === "answers-another") await this.say(question, { isYes, isOther: true });
      const clicks = deviation?.does === "answers-twice" ? 2 : 1;
      await Promise.all(Array.from({ length: clicks }, () => this.say(question, { isYes, args })));
      const isRefused = args !== undefined && (await misfitOf(args, request)) !== undefined;
      if (isRefused) await this.say(question, { isYes }); // the person takes the edit back
    }
    await this.goOn();
  }

  private async say(
    { key, request, by }: WaitingQuestion,
    said: { readonly isYes: boolean; readonly isOther?: boolean; readonly args?: JsonObject },
  ): Promise<void> {
    const { world } = this.cluster;
    const { isYes, isOther = false, args } = said;
    const { callId, tool, arguments: asked } = request;
    const answered = {
      runId: this.id,
      callId,
      tool,
      question: `${this.id} ${key}`,
      isYes,
      isOther,
      asked,
      edited: args,
      isTaken: false,
    };
    world.answers.push(answered);
    const hash = isOther ? `${request.hash}x` : request.hash;
    const named = by?.[0];
    answered.isTaken = await this.isTaken(
      this.runs.answer(this.id, key, {
        approved: isYes,
        hash,
        ...(args === undefined ? {} : { arguments: args }),
        ...(named === undefined ? {} : { by: named }),
      }),
      `the answer ${isYes ? "yes" : "no"} to ${key}`,
    );
  }

  /** Settles a call that was under way when its process died. The person tells the truth. */
  private async settle({ key, request, by }: WaitingQuestion): Promise<void> {
    const { callId } = request;
    const done = this.cluster.world.executions.find((one) => one.callId === callId && one.tookEffect);
    const happened = done !== undefined;
    const named = by?.[0];
    const settled = {
      ...(done === undefined
        ? { happened: false as const }
        : { happened: true as const, ...(done.made === undefined ? {} : { value: done.made }) }),
      ...(named === undefined ? {} : { by: named }),
    };
    await this.isTaken(
      this.runs.settle(this.id, key, settled),
      `the settling of ${key}: ${happened ? "it happened" : "it did not"}`,
    );
  }

  private async signal({ request, until }: WaitingQuestion): Promise<void> {
    const { waitsFor } = request;
    if (waitsFor === undefined || waitsFor === "time") return;
    const { signal: name, schema } = waitsFor;
    const value = signalValue(schema, this.cluster.world);
    const isTaken = await this.isTaken(
      this.runs.signal(this.id, { name, value }),
      `the signal ${name} ${JSON.stringify(value)}`,
    );
    if (!isTaken && until === undefined) this.stop(); // nobody knows a value that fits
  }

  private async isTaken(saying: Promise<void>, what: string): Promise<boolean> {
    const { world } = this.cluster;
    try {
      await saying;
      world.note(`${what} is taken`);
      return true;
    } catch (error) {
      if (!isWritError(error)) throw error;
      world.note(`${what} is refused: ${error.code}`);
      return false;
    }
  }
}
