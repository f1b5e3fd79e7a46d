import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import { joinLabels, type Label } from "../message/label.ts";
import { labelOf } from "../message/message.ts";
import type { CallRun, Executor, ReadyCall } from "../run/executor.ts";
import { copyOfPlain } from "../util/json.ts";
import { untilStopped } from "../util/interrupt.ts";
import { partsText } from "../journal/parts.ts";
import type { CallRecord, Ready } from "./call.ts";
import { type GivenEnd, type HandedCall, notGiven, readGiven, type ReadGiven, settleGiven } from "./given.ts";
import type { BrokenContract } from "./judging-batch.ts";
import { isOrdered, type RunningBatch } from "./running.ts";
import { asTold } from "./settle.ts";
import { idempotencyKeyOf, stepOf } from "./step.ts";

/** The error of a run whose executor broke its contract. */
export function executorError({ code, reason, call, cause }: BrokenContract, name: string): WritError {
  const options = cause === undefined ? {} : { cause };
  return code === "executor-failed"
    ? new WritError(code, { name, reason }, options)
    : new WritError(code, { name, reason, call }, options);
}

/** The record of an executor's work in the journal. A call that is missing here was run, and has a record of its own. */
interface HandedRecord {
  readonly ends: readonly { readonly index: number; readonly record?: CallRecord }[];
  readonly broken?: BrokenContract;
}

/**
 * Has the author's executor carry out the ready calls, as one step of the journal; calls that it has the runtime run are steps
 * of their own inside it. Each call gets exactly one end. Returns the fault in the executor's results, if any.
 *
 * @throws only the error of a journal that failed
 */
export async function carryOutBy(
  executor: Executor,
  handed: RunningBatch,
): Promise<BrokenContract | undefined> {
  const { run, turn } = handed.batch;
  const work = new HandedWork(handed);
  const { ends, broken } = await run.journal.step({
    key: `turn/${turn}/executor`,
    fingerprint: () => work.fingerprint(),
    run: () => work.carryOut(executor),
  });
  for (const { index, record } of ends) handed.end(index, record ?? (await work.recordOf(index)));
  return broken === undefined || work.thrown === undefined ? broken : { ...broken, cause: work.thrown };
}

/** The outcome of asking an executor. */
interface AskedExecutor {
  readonly read: ReadGiven;
  readonly broken?: BrokenContract;
  /** True if the run ended meanwhile. */
  readonly wasStopped?: boolean;
}

/** The calls of a batch while an executor has them. */
class HandedWork {
  /** The error that the executor threw. */
  thrown: unknown;
  private readonly handed: RunningBatch;
  /** The places of the calls, by call id. */
  private readonly places = new Map<string, number>();
  /** The calls that were begun here, in order. */
  private readonly begun = new Map<number, Promise<CallRecord>>();
  /** The results that the executor got for the calls that have ended. */
  private readonly tokens = new Map<number, CallRun>();
  /** The last call that later calls wait for. */
  private alone: readonly Promise<CallRecord>[] = [];
  private isOver = false;

  constructor(handed: RunningBatch) {
    this.handed = handed;
    handed.fates.forEach((fate, index) => {
      if (fate.type === "ready") this.places.set(fate.call.id, index);
    });
  }

  fingerprint(): string {
    const calls = [...this.places.values()].map((index) => this.readyAt(index).call);
    return partsText({ tool: calls.map(({ name }) => name), arguments: calls.map((call) => call.arguments) });
  }

  async carryOut(executor: Executor): Promise<HandedRecord> {
    const startedAt = this.handed.batch.run.host.now();
    const { read, broken, wasStopped = false } = await this.ask(executor);
    this.isOver = true;
    await Promise.allSettled(this.begun.values());
    const seen = await Promise.all([...this.begun].map(([index, running]) => this.seenIn(index, running))); // throws only what a journal threw
    const ends: HandedRecord["ends"][number][] = [];
    for (const [id, index] of this.places) {
      const given = read.own.get(id) ?? notGiven(this.readyAt(index).call.name, wasStopped);
      const record = this.begun.has(index)
        ? {}
        : { record: await this.settled(index, given, { startedAt, seen }) };
      ends.push({ index, ...record });
    }
    return broken === undefined ? { ends } : { ends, broken };
  }

  /** The label of what the executor read in the result of a call that it had run. */
  private async seenIn(index: number, running: Promise<CallRecord>): Promise<Label> {
    const { id: callId, name } = this.readyAt(index).call;
    const { result } = await running;
    return labelOf({ role: "tool", callId, name, ...result });
  }

  /** The record of a call that the runtime runs. The call runs once. */
  recordOf(index: number): Promise<CallRecord> {
    const known = this.begun.get(index);
    if (known !== undefined) return known;
    const isAlone = isOrdered(this.readyAt(index).tool, this.handed.batch.run);
    const running = this.begin(index, isAlone ? [...this.begun.values()] : this.alone);
    running.catch(() => undefined); // the batch throws it when it waits for the call
    this.begun.set(index, running);
    if (isAlone) this.alone = [running];
    return running;
  }

  private async begin(index: number, before: readonly Promise<CallRecord>[]): Promise<CallRecord> {
    await Promise.allSettled(before);
    const { batch } = this.handed;
    const ready = this.readyAt(index);
    const step = stepOf(ready, (isLost) => this.handed.perform(index, isLost));
    return batch.run.journal.step(step);
  }

  private async ask(executor: Executor): Promise<AskedExecutor> {
    const { run, turn } = this.handed.batch;
    const calls = [...this.places.values()].map((index) => this.shown(index));
    const { signal } = run.stop;
    const context = { turn, signal, run: ({ id }: Pick<ReadyCall, "id">) => this.runFor(id) };
    try {
      const results: unknown = await untilStopped(
        Promise.resolve(executor.execute(calls, context)),
        run.stop,
      );
      if (results === "stopped") return { read: nothingGiven, wasStopped: true };
      const read = readGiven(results, this.calls());
      if (read.fault === undefined) return { read };
      return { read, broken: { code: "executor-result-invalid", ...read.fault } };
    } catch (error) {
      this.thrown = error;
      return { read: nothingGiven, broken: brokenBy(error) };
    }
  }

  private async runFor(id: string): Promise<CallRun> {
    const index = this.places.get(id);
    if (index === undefined || this.isOver) {
      const { agent: name } = this.handed.batch.gate;
      const late = `it had given its results before it ran the call "${id}"`;
      const reason = index === undefined ? `it was given no call "${id}"` : late;
      throw new WritError("executor-result-invalid", { name, call: id, reason });
    }
    const { result } = await this.recordOf(index);
    const token = this.tokens.get(index) ?? Object.freeze({ callId: id, result: copyOfPlain(result) });
    this.tokens.set(index, token);
    return token;
  }

  /** The calls to check the results against. */
  private calls(): ReadonlyMap<string, HandedCall> {
    return new Map(
      [...this.places].map(([id, index]) => {
        const { name } = this.readyAt(index).call;
        return [id, { name, wasRun: this.begun.has(index), token: this.tokens.get(index) }];
      }),
    );
  }

  /** A call as the executor sees it: a copy, so that the judged call cannot be changed. */
  private shown(index: number): ReadyCall {
    const { batch } = this.handed;
    const { at, call, args, tool } = this.readyAt(index);
    return {
      id: call.id,
      name: call.name,
      arguments: copyOfPlain(call.arguments),
      args: copyOfPlain(args),
      effect: tool.effect,
      idempotencyKey: idempotencyKeyOf(batch.run, at.key),
    };
  }

  private async settled(
    index: number,
    given: GivenEnd,
    { startedAt, seen }: { readonly startedAt: number; readonly seen: readonly Label[] },
  ): Promise<CallRecord> {
    const ready = this.readyAt(index);
    const label = seen.reduce(joinLabels, ready.at.learned.label);
    return asTold(ready, await settleGiven({ ready, startedAt, label }, given));
  }

  private readyAt(index: number): Ready {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the calls that are ready are handed over
    return this.handed.fates[index] as Ready;
  }
}

const nothingGiven: ReadGiven = { own: new Map() };

function brokenBy(error: unknown): BrokenContract {
  if (!isWritError(error, "executor-result-invalid"))
    return { code: "executor-failed", reason: messageOf(error), call: "" };
  const { reason, call } = error.data;
  return { code: error.code, reason: String(reason), call: String(call) };
}
