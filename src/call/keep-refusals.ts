import type { Journal } from "../journal/journal.ts";
import type { Decision } from "../policy/decision.ts";
import type { ToolResult } from "../message/message.ts";
import { StepsOfRun } from "../run/steps-of-run.ts";
import { pointerText } from "../schema/schema.ts";
import type { Batch, Fate, KeptPowers } from "./call.ts";
import type { JudgedTimes } from "./judging-times.ts";
import type { RunningBatch } from "./running.ts";
import type { Maybe } from "../util/maybe.ts";
import { powersOf } from "./step.ts";

/** The decision about a call that did not run, and the result that the model read. It stands, even if today's code would run the call. */
export interface RefusalRecord extends KeptPowers {
  readonly result: ToolResult;
  /** Left out if nobody decided: something before it ended the calls of its turn. */
  readonly decision?: Decision;
  readonly judged?: JudgedTimes;
  /** The places at which its arguments do not fit the schema of its tool. Left out if they fit or are not JSON. */
  readonly faults?: readonly ArgumentFault[];
}

/** One fault in arguments. */
export interface ArgumentFault {
  /** The place, as a JSON Pointer: `/items/3/qty`; empty for the arguments as a whole. */
  readonly at: string;
  readonly message: string;
}

/** The longest text that such a record keeps: a reason may name every tool, or repeat a schema. */
const longest = 300;

/** The key of the record of a call that did not run, in place of the call's own key. */
function refusalKey(call: string): string {
  return `${call}/refused`;
}

/** The record of a call that did not run and has no record of its own. */
export function refusalIn(key: string, find: NonNullable<Journal["find"]>): RefusalRecord | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its batch wrote it
  return find(refusalKey(key)) as RefusalRecord | undefined;
}

/** Keeps why calls did not run, all at once. A call that a policy denied has a record of its own. */
export function keepRefusals(_done: unknown, running: RunningBatch): Maybe<unknown> {
  const { batch, fates, records } = running;
  const { run, turn } = batch;
  const steps = StepsOfRun.of(run.journal);
  if (steps === undefined || run.stop.reason !== undefined || running.brokenBy !== undefined)
    return undefined;
  const kept = fates.flatMap((fate, index) => {
    const result = records[index]?.result;
    const isKept = fate.type === "refused" ? fate.isDenied === true : result?.status !== "skipped";
    if (isKept || result === undefined) return [];
    return [{ key: refusalKey(`turn/${turn}/call/${index}`), value: recordOf(fate, result, batch) }];
  });
  return kept.length === 0 ? undefined : steps.keepBeside(kept).catch((error) => running.breakOff(error));
}

function recordOf(fate: Fate, result: ToolResult, { gate }: Batch): RefusalRecord {
  const decision = fate.type === "refused" ? (fate.decision ?? fate.askedBy) : undefined;
  const judged = fate.type === "refused" ? fate.judged : fate.at.times?.kept;
  const tool = gate.allowed.tools.get(fate.call.name);
  return {
    result: keptResult(result),
    ...(decision === undefined ? {} : { decision: { ...decision, reason: cut(decision.reason) } }),
    ...(judged === undefined ? {} : { judged }),
    ...(tool === undefined ? {} : powersOf(tool, gate)),
    ...faultsOf(fate),
  };
}

/** A result as such a record keeps it: whole if it is short. */
export function keptResult(result: ToolResult): ToolResult {
  const { status, text } = result;
  return JSON.stringify(result).length <= 2 * longest ? result : { status, text: cut(text) };
}

function faultsOf(fate: Fate): Pick<RefusalRecord, "faults"> {
  const issues = fate.type === "refused" ? (fate.wrong?.issues ?? []) : [];
  if (issues.length === 0) return {};
  return {
    faults: issues.map(({ path, message }) => ({ at: cut(pointerText(path)), message: cut(message) })),
  };
}

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);
