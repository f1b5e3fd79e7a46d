import type { Fact } from "../event/event.ts";
import type { Step } from "../journal/journal.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import type { ExecuteOptions } from "./options.ts";
import { type CallRecord, perform, performOptions } from "./perform.ts";
import type { Prepared, Runnable } from "./prepare.ts";

/** A call of a batch after all was decided: with a result when it will not run, else with what is to be run. */
export interface Planned {
  readonly call: ToolCall;
  readonly prepared?: Prepared;
  readonly result?: ToolResult;
}

/** A call that was started before its reply was complete. */
export interface EarlyCall {
  readonly prepared: Runnable;
  readonly record: Promise<CallRecord>;
}

/** The planned calls of one turn. */
export interface PlannedBatch {
  readonly turn: number;
  readonly planned: readonly Planned[];
  readonly early?: ReadonlyMap<string, EarlyCall>;
}

/**
 * Runs the planned calls beside each other through the journal. Their ends are told in the order of the calls, each as soon as all calls
 * before it have ended.
 */
export async function runCalls(batch: PlannedBatch, options: ExecuteOptions): Promise<readonly CallRecord[]> {
  const { turn, planned, early } = batch;
  const records: (CallRecord | undefined)[] = planned.map(({ result }) =>
    result === undefined ? undefined : notRun(result),
  );
  let told = 0;
  function end(index: number, record: CallRecord): void {
    records[index] = record;
    for (; records[told] !== undefined; told += 1)
      options.tell?.(endFact(batch, { index: told, record: records[told] as CallRecord }, options));
  }
  const performing = performOptions(options, turn);
  const indexes: number[] = [];
  const steps: Step<CallRecord>[] = [];
  planned.forEach(({ call, prepared, result }, index) => {
    if (result !== undefined) return;
    indexes.push(index);
    const key = `turn/${turn}/call/${index}`;
    steps.push({
      key,
      fingerprint: () => `${call.name} ${JSON.stringify(call.arguments)}`,
      run: async () => {
        const record = await (early?.get(call.id)?.record ?? perform(prepared as Runnable, key, performing));
        end(index, record);
        return record;
      },
    });
  });
  const settled = await options.journal.all(steps);
  settled.forEach((record, place) => end(indexes[place] as number, record));
  if (settled.length === 0 && records[0] !== undefined) end(0, records[0]);
  return records as CallRecord[];
}

function notRun(result: ToolResult): CallRecord {
  return { result, startedAt: 0, endedAt: 0 };
}

function endFact(
  batch: PlannedBatch,
  ended: { readonly index: number; readonly record: CallRecord },
  options: ExecuteOptions,
): Fact {
  const { result, startedAt, endedAt } = ended.record;
  const { id: callId, name } = (batch.planned[ended.index] as Planned).call;
  const startedMs = endedAt === 0 ? 0 : startedAt - options.startedAt;
  return {
    type: "tool-end",
    turn: batch.turn,
    callId,
    name,
    result,
    durationMs: endedAt - startedAt,
    startedMs,
  };
}
