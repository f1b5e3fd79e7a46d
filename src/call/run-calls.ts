import type { Fact } from "../event/event.ts";
import type { Step } from "../journal/journal.ts";
import { isPlain, joinLabels, trustedLabel } from "../message/label.ts";
import { labelOf } from "../message/label-of.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import { joinLearned, type Learned } from "../policy/learned.ts";
import { describedLabel } from "../policy/result-label.ts";
import type { Fatal } from "./fatal.ts";
import type { Gate } from "../run/gate.ts";
import type { ExecuteOptions } from "../run/context.ts";
import { groupsOf, haltedBy, skippedResult } from "./order.ts";
import { type CallRecord, perform, performOptions } from "./run.ts";
import type { Prepared, Runnable } from "./judge.ts";
import type { Inside } from "../run/scope.ts";

/** A call of a batch after all was decided: with a result when it will not run, else with what is to be run. */
export interface Planned {
  readonly call: ToolCall;
  readonly prepared?: Prepared;
  readonly result?: ToolResult;
  /** It ends the run, though it never ran. */
  readonly fatal?: Fatal;
  /** The author's recovery chose to tell the model. */
  readonly escalated?: boolean;
  /** A person approved it for the rest of the run too, under this hash. */
  readonly approved?: string;
  /** A person put other arguments in the place of the model's. */
  readonly isEdited?: boolean;
  /** What runs inside its mending spent and have seen. */
  readonly inside?: Inside;
}

/** A call that was started before its reply was complete. */
export interface EarlyCall {
  readonly prepared: Runnable;
  readonly record: Promise<CallRecord>;
  /** Ends it, if it still goes on: nobody asks for it any more. Waits until it has ended. */
  readonly giveUp: () => Promise<unknown>;
}

/** The planned calls of one turn. */
export interface PlannedBatch {
  readonly turn: number;
  readonly gate: Gate;
  readonly transcript: ReadyTranscript;
  readonly learned: Learned;
  readonly planned: readonly Planned[];
  readonly early?: ReadonlyMap<string, EarlyCall>;
}

/**
 * Runs the planned calls beside each other through the journal. Their ends are told in the order of the calls, each as soon as all calls
 * before it have ended.
 */
export async function runCalls(batch: PlannedBatch, options: ExecuteOptions): Promise<readonly CallRecord[]> {
  const { turn, planned } = batch;
  const records: (CallRecord | undefined)[] = planned.map(({ result, escalated = false, ...entry }) =>
    result === undefined ? undefined : { ...toldOfMending(entry, notRun(result, entry)), escalated },
  );
  let told = 0;
  function end(index: number, record: CallRecord): void {
    records[index] = record;
    for (; records[told] !== undefined; told += 1)
      tellEnd(batch, { index: told, record: records[told] as CallRecord }, options);
  }
  const performing = performOptions(options, batch);
  function performOne(key: string, { prepared, inside }: Planned): Promise<CallRecord> {
    const learned = inside === undefined ? batch.learned : joinLearned(batch.learned, inside.label);
    return perform(prepared as Runnable, key, { ...performing, learned });
  }
  const running: Promise<CallRecord>[] = [];
  function stepOf(index: number): Step<CallRecord> {
    const entry = planned[index] as Planned;
    const { call, isEdited = false } = entry;
    const key = `turn/${turn}/call/${index}`;
    async function run(): Promise<CallRecord> {
      const performed = await (earlyRecord(batch, entry) ?? performOne(key, entry));
      const mended = toldOfMending(entry, performed);
      const record = isEdited ? toldOfEdit(call, mended) : mended;
      end(index, record);
      return record;
    }
    return {
      key,
      fingerprint: () => `${call.name} ${JSON.stringify(call.arguments)}`,
      run: () => {
        const work = run();
        running.push(work);
        return work;
      },
    };
  }
  if (records[0] !== undefined) end(0, records[0]);
  const { halt } = performing;
  for (const group of groupsOf(planned, options)) {
    const { reason } = halt;
    const skipped = (index: number): boolean =>
      reason !== undefined && earlyRecord(batch, planned[index] as Planned) === undefined;
    for (const index of group.filter(skipped))
      end(index, notRun(skippedResult(reason ?? ""), planned[index] as Planned));
    const wanted = group.filter((index) => !skipped(index));
    const settled = await options.journal.all(wanted.map(stepOf)).catch(async (error: unknown) => {
      await Promise.allSettled(running); // what has begun ends, and is recorded if it can be
      throw error;
    });
    settled.forEach((record, place) => {
      end(wanted[place] as number, record);
      halt.reason ??= haltedBy(record, options);
    });
  }
  return records as CallRecord[];
}

/** The end of a call that was started while its reply was read. */
function earlyRecord(
  { early }: Pick<PlannedBatch, "early">,
  { call, prepared }: Planned,
): Promise<CallRecord> | undefined {
  const begun = early?.get(call.id);
  return begun !== undefined && begun.prepared === prepared ? begun.record : undefined;
}

/** The model must not take the result for that of the call it made. */
function toldOfEdit({ arguments: args }: ToolCall, record: CallRecord): CallRecord {
  const { result } = record;
  const text = `(A person changed the arguments to ${JSON.stringify(args)}.)\n${result.text}`;
  return { ...record, result: { ...result, text } };
}

/** What is said of a call whose arguments an agent mended is no better than what that agent has seen: it may say it in any words. */
function toldOfMending({ call, inside }: Planned, record: CallRecord): CallRecord {
  if (inside === undefined) return record;
  const { result } = record;
  const own = labelOf({ role: "tool", callId: call.id, name: call.name, ...result });
  return { ...record, result: { ...result, label: joinLabels(own, inside.label) } };
}

/** What is said of wrong arguments repeats the schema: it is no better than who wrote that. */
function notRun(result: ToolResult, { prepared }: Planned): CallRecord {
  const wrong = prepared?.type === "refused" ? prepared.wrong : undefined;
  const label = wrong === undefined ? trustedLabel : describedLabel(wrong.tool);
  return { result: isPlain(label) ? result : { ...result, label }, startedAt: 0, endedAt: 0 };
}

interface Ended {
  readonly index: number;
  readonly record: CallRecord;
}

function tellEnd(batch: PlannedBatch, ended: Ended, { tell, startedAt }: ExecuteOptions): void {
  if (tell === undefined) return;
  const { turn } = batch;
  const { call, prepared, inside } = batch.planned[ended.index] as Planned;
  const { by, access = [] } = ended.record;
  for (const delegation of [...delegationsOf(inside), ...delegationsOf(ended.record.inside)])
    tell({ type: "delegation-end", turn, callId: call.id, delegation });
  for (const look of access) tell({ type: "capability-checked", turn, callId: call.id, ...look });
  if (by !== undefined) tell({ type: "hook-end", turn, place: "afterToolCall", by, callId: call.id });
  const isKnowledge =
    prepared !== undefined && prepared.type !== "refused" && prepared.tool.kind === "knowledge";
  tell(
    isKnowledge
      ? knowledgeFact(turn, call, ended.record)
      : endFact(turn, call, { ...ended.record, runStartedAt: startedAt }),
  );
}

function delegationsOf(inside: Inside | undefined): Inside["delegations"] {
  return inside?.delegations ?? [];
}

function knowledgeFact(turn: number, call: ToolCall, { result, startedAt, endedAt }: CallRecord): Fact {
  const { id: callId, name } = call;
  return {
    type: "knowledge-used",
    turn,
    callId,
    name,
    arguments: call.arguments,
    result,
    durationMs: endedAt - startedAt,
  };
}

function endFact(
  turn: number,
  call: ToolCall,
  { result, startedAt, endedAt, runStartedAt }: CallRecord & { readonly runStartedAt: number },
): Fact {
  const { id: callId, name } = call;
  const startedMs = endedAt === 0 ? 0 : startedAt - runStartedAt;
  const durationMs = endedAt - startedAt;
  return { type: "tool-end", turn, callId, name, arguments: call.arguments, result, durationMs, startedMs };
}
